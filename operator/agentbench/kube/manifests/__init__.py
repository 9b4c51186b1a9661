"""Manifests: each object is one literal from one function."""
