"""The metric catalog: what can be measured of a run, and what was."""
