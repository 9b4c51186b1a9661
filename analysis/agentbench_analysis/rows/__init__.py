"""The row: the immutable record of one attempt, and how it is read."""
