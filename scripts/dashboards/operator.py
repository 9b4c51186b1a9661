"""The dashboard of the operator's health."""

from scripts.dashboards.board import Board, Look, Panel

_OURS = "* on (instance, job) group_left () agentbench_build_info"
_RANGE = "[$__rate_interval]"
_CAMPAIGN = "{{campaign_namespace}}/{{campaign}}"
_REQUESTS = "agentbench_api_requests_total"


def quantile(share: str, name: str, by: str = "") -> str:
    """A quantile of a histogram over the last interval."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({name}_bucket{_RANGE})))"


_STATE = (
    Panel(
        "Version", Look.NUMBER, [("agentbench_build_info", "{{version}}")],
        says="Versions that are running: one.", span=4, height=4,
    ),
    Panel(
        "Campaigns", Look.NUMBER,
        [("sum by (phase) (agentbench_campaign_phase) > 0", "{{phase}}")],
        says="Campaigns by phase.", span=8, height=4,
    ),
    Panel(
        "Need a person", Look.NUMBER, [("sum(agentbench_campaign_stalled)", "stalled")],
        says="Campaigns with the condition Stalled: its message has the cure.", span=4, height=4,
    ),
    Panel(
        "Stores that take rows", Look.NUMBER,
        [("avg(agentbench_campaign_store_available)", "available")],
        unit="percentunit", says="Campaigns whose store answers.", span=4, height=4,
    ),
    Panel(
        "Rows pending", Look.NUMBER, [("sum(agentbench_rows_pending)", "pending")],
        says="Attempts whose agent is gone and that have no row yet.", span=4, height=4,
    ),
)  # fmt: skip

_TICKS = (
    Panel(
        "Time of a tick", Look.LINES,
        [
            (quantile("0.5", "agentbench_reconcile_seconds"), "median"),
            (quantile("0.99", "agentbench_reconcile_seconds"), "99 %"),
        ],
        unit="s", says="One tick: list, decide, act, one status.",
    ),
    Panel(
        "Ticks per second", Look.LINES,
        [(f"sum(rate(agentbench_reconcile_seconds_count{_RANGE}))", "ticks")], unit="ops",
    ),
    Panel(
        "Failed ticks", Look.STACKED,
        [(f"sum by (reason) (rate(agentbench_reconcile_errors_total{_RANGE}))", "{{reason}}")],
        unit="ops", says="retry: API server or store do not answer; unexpected: a fault of ours.",
    ),
    Panel(
        "Age of the last tick", Look.LINES,
        [("time() - agentbench_campaign_last_tick_timestamp_seconds", _CAMPAIGN)],
        unit="s", says="A campaign is looked at every 10 s or sooner.",
    ),
    Panel(
        "Age of the last event", Look.LINES,
        [("time() - agentbench_watch_last_event_timestamp_seconds", "{{resource}}")],
        unit="s", says="Watches are quiet while nothing changes; with live runs not for hours.",
    ),
    Panel(
        "Live attempts by stage", Look.STACKED,
        [("sum by (stage) (agentbench_attempts_live)", "{{stage}}")],
    ),
)  # fmt: skip

_ROWS = (
    Panel(
        "Time to write a row", Look.LINES,
        [
            (quantile("0.5", "agentbench_row_write_seconds"), "median"),
            (quantile("0.99", "agentbench_row_write_seconds"), "99 %"),
        ],
        unit="s", says="Store and status.",
    ),
    Panel(
        "Rows per minute", Look.LINES,
        [(f"60 * sum(rate(agentbench_row_write_seconds_count{_RANGE}))", "rows")],
    ),
    Panel(
        "Rows that could not be stored", Look.STACKED,
        [(f"sum by (reason) (rate(agentbench_row_write_errors_total{_RANGE}))", "{{reason}}")],
        unit="ops", says="They wait and are tried again; nothing is lost.",
    ),
)  # fmt: skip

_API = (
    Panel(
        "Requests", Look.STACKED,
        [(f"sum by (verb, code) (rate({_REQUESTS}{_RANGE}))", "{{verb}} {{code}}")],
        unit="reqps", says="none: no answer. kopf's own watches and patches are not in it.",
    ),
    Panel(
        "Requests that failed", Look.LINES,
        [
            (
                f'sum(rate({_REQUESTS}{{code=~"5xx|none"}}{_RANGE})'
                f" or 0 * rate({_REQUESTS}{_RANGE}))"
                f" / sum(rate({_REQUESTS}{_RANGE}))",
                "failed",
            )
        ],
        unit="percentunit",
    ),
    Panel(
        "Time of a request", Look.LINES,
        [(quantile("0.99", "agentbench_api_request_seconds", "verb"), "{{verb}} 99 %")], unit="s",
    ),
)  # fmt: skip

_PROCESS = (
    Panel(
        "Memory", Look.LINES,
        [(f"process_resident_memory_bytes {_OURS}", "resident")], unit="bytes", span=6,
    ),
    Panel(
        "CPU", Look.LINES,
        [(f"rate(process_cpu_seconds_total{_RANGE}) {_OURS}", "cores")], span=6,
    ),
    Panel(
        "Open files", Look.LINES,
        [
            (f"process_open_fds {_OURS}", "open"),
            (f"process_max_fds {_OURS}", "limit"),
        ],
        span=6,
    ),
    Panel(
        "Series and time of a scrape", Look.LINES,
        [
            (f"scrape_samples_scraped {_OURS}", "series"),
            (f"1000 * scrape_duration_seconds {_OURS}", "milliseconds"),
        ],
        span=6,
    ),
)  # fmt: skip

OPERATOR = Board(
    uid="agent-bench-operator",
    title="agent-bench / Operator",
    says="Whether the operator does its work: ticks, rows, API server, store, process.",
    variables=(),
    rows=(
        ("State", _STATE),
        ("Ticks and watches", _TICKS),
        ("Rows", _ROWS),
        ("API server", _API),
        ("Process", _PROCESS),
    ),
    span="now-3h",
)
