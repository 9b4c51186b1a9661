"""The canonical metric names that every row carries, measured or with a reason why not."""

DURATIONS = ("setup_seconds", "agent_seconds", "capture_seconds", "grading_seconds")

MONEY = ("cost_usd", "cost_overshoot_usd")
"""Decimal strings of US dollars."""

TOKENS = (
    "input_uncached",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "output",
    "reasoning",
)

COUNTS = (
    "model_calls",
    "model_call_failures",
    "tool_calls",
    "tool_failures",
    "interventions",
    "repair_rounds",
)

ROW_METRICS = DURATIONS + MONEY + TOKENS + COUNTS
