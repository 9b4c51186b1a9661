"""The warden: meters, caps and records one run from outside the agent."""
