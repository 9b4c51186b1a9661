"""The first process of a sandbox. Standard library only: it starts in milliseconds."""
