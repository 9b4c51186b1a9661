"""The command line `agent-bench`: one file per command, thin over the packages below."""
