"""Programs that run beside an agent or a check."""
