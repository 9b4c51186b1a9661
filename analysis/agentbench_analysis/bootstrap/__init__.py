"""Stratified bootstrap within cells: by simulation, and exactly."""
