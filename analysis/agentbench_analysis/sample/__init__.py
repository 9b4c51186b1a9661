"""The sample: which rows are in it, which attempt of a run scores, and what cells hold."""
