"""Interval estimates of one rate: Wilson and Clopper-Pearson."""
