"""Custom resources as models; the CRDs are generated from them."""
