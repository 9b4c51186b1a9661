"""Verdicts of a campaign, from its rows alone."""
