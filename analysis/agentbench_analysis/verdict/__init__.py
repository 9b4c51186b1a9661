"""Hypotheses and claims, decided by thresholds frozen before the first run."""
