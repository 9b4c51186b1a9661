"""One adapter per agent."""
