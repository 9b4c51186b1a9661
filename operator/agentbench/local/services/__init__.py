"""Services that a stack declares, fresh for every run and every check."""
