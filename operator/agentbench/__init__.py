"""agent-bench: pre-registered benchmarks of coding agents."""

__version__ = "0.1.0"
