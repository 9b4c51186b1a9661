"""Desk: a small product with tenants and users."""
