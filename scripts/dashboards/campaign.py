"""The dashboard of campaigns: progress, outcomes, money, efficiency, reliability."""

from scripts.dashboards.board import Board, Look, Panel, Variable

_C = 'campaign_namespace=~"$campaign_namespace",campaign=~"$campaign"'
_P = f'{_C},stack=~"$stack",agent=~"$agent"'
_PAIR = "{{stack}} {{agent}}"


def of(name: str, where: str = _C, **labels: str) -> str:
    """A metric of the chosen campaigns, with further labels."""
    more = "".join(f",{label}{value}" for label, value in labels.items())
    return f"agentbench_{name}{{{where}{more}}}"


def mean(name: str, by: str = "stack, agent") -> str:
    """The mean over the attempts that reported."""
    total, count = of(f"attempt_{name}_sum", _P), of(f"attempt_{name}_count", _P)
    return f"sum by ({by}) ({total}) / sum by ({by}) ({count})"


def quantile(share: str) -> str:
    """A quantile of stage times over all recorded attempts."""
    buckets = f"sum by (le, stage) ({of('attempt_stage_seconds_bucket')})"
    return f"histogram_quantile({share}, {buckets})"


_SAMPLE = {"phase": '="sample"'}
_JUDGED = of("attempts_total", _P, **_SAMPLE, outcome='=~"pass|fail"', cause='!="infra"')
_PASSED = of("attempts_total", _P, **_SAMPLE, outcome='="pass"')
_FAILED = of("attempts_total", _P, outcome='="fail"')
_TOKENS = of("attempt_tokens_sum", _P, kind='!="reasoning"')
_TOKENS_REPORTED = of("attempt_tokens_count", _P, kind='="output"')
_FLAGS = of("attempt_flags_total", _P)
_YES = of("attempt_flags_total", _P, value='="yes"')

_STANDING = (
    Panel(
        "Phase", Look.NUMBER, [(f"{of('campaign_phase')} == 1", "{{campaign}}: {{phase}}")],
        says="The present phase of each campaign.", span=6, height=4,
    ),
    Panel(
        "Done", Look.NUMBER, [(f"sum({of('runs_done')}) / sum({of('runs_planned')})", "done")],
        unit="percentunit", says="Runs that are recorded for good, of all runs.", span=3, height=4,
    ),
    Panel(
        "Live", Look.NUMBER, [(f"sum({of('runs_live')})", "live")],
        says="Runs with an attempt under way.", span=3, height=4,
    ),
    Panel(
        "Waiting", Look.NUMBER, [(f"sum({of('runs_queued')})", "waiting")],
        says="Runs that have not started.", span=3, height=4,
    ),
    Panel(
        "Pass rate", Look.NUMBER, [(f"sum({_PASSED}) / sum({_JUDGED})", "passed")],
        unit="percentunit", span=3, height=4,
        says="Of the sample's attempts that were judged. No verdict: verdicts come from the "
        "analysis, by rules that were frozen before the first run.",
    ),
    Panel(
        "Spent", Look.NUMBER, [(f"sum({of('spent_dollars')})", "spent")],
        unit="currencyUSD", span=3, height=4,
        says="US dollars of recorded attempts; one of unknown cost counts with its cap.",
    ),
    Panel(
        "Budget left", Look.NUMBER, [(f"sum({of('budget_left_dollars')})", "left")],
        unit="currencyUSD", says="Neither spent nor reserved for live attempts.", span=3, height=4,
    ),
)  # fmt: skip

_PROGRESS = (
    Panel(
        "Runs", Look.STACKED,
        [
            (f"sum({of('runs_done')})", "done"),
            (f"sum({of('runs_live')})", "live"),
            (f"sum({of('runs_queued')})", "waiting"),
        ],
        says="All runs of the campaigns, by where they are.",
    ),
    Panel(
        "Live attempts by stage", Look.STACKED,
        [(f"sum by (stage) ({of('attempts_live')})", "{{stage}}")],
        says="Grading and recording: the agent is gone and the row is not written yet.",
    ),
    Panel(
        "Time left", Look.LINES,
        [
            (
                f"sum({of('runs_planned')} - {of('runs_done')}) "
                f"/ (sum(delta({of('runs_done')}[1h])) > 0) * 3600",
                "at the rate of the last hour",
            )
        ],
        unit="s", says="Empty while nothing has been recorded for an hour.",
    ),
)  # fmt: skip

_OUTCOMES = (
    Panel(
        "Pass rate", Look.BARS,
        [(f"sum by (stack, agent) ({_PASSED}) / sum by (stack, agent) ({_JUDGED})", _PAIR)],
        unit="percentunit", says="Of the sample's judged attempts; infra and aborted are left out.",
    ),
    Panel(
        "Runs by result", Look.STACKED,
        [(f"sum by (result) ({of('runs_ended')})", "{{result}}")],
        says="Runs that are recorded for good; infra: lost twice.",
    ),
    Panel(
        "Attempts by cause", Look.STACKED,
        [(f"sum by (cause) ({_FAILED})", "{{cause}}")],
        says="Recorded attempts that failed.",
    ),
    Panel(
        "First reason codes", Look.BARS,
        [(f"sort_desc(sum by (reason) ({of('attempt_reasons_total')}))", "{{reason}}")],
        says="Why attempts did not pass, finer than the five causes.",
    ),
    Panel(
        "Caps reached", Look.BARS,
        [(f"sum by (cap) ({of('caps_hit_total', _P)})", "{{cap}}")],
        says="Attempts that reached a cap.",
    ),
    Panel(
        "Infra reruns", Look.STACKED,
        [(f"sum by (stack, agent) ({of('infra_reruns_total', _P)})", _PAIR)],
        says="Second attempts.",
    ),
)  # fmt: skip

_MONEY = (
    Panel(
        "Money", Look.LINES,
        [
            (f"sum({of('spent_dollars')})", "spent"),
            (f"sum({of('spent_dollars')} + {of('reserved_dollars')})", "spent and reserved"),
            (f"sum({of('projected_dollars')})", "projected"),
            (f"sum({of('budget_dollars')})", "budget"),
        ],
        unit="currencyUSD", span=12,
        says="Reserved: the caps of live attempts. Projected: if the rest costs what was recorded.",
    ),
    Panel(
        "Tokens by kind", Look.STACKED,
        [(f'sum by (kind) ({of("attempt_tokens_sum", _P)})', "{{kind}}")],
        span=12, says="Of recorded attempts of the sample. Reasoning is part of the output.",
    ),
)  # fmt: skip

_EFFICIENCY = (
    Panel(
        "Read beside the pass rate", Look.WORDS, span=4,
        says="Cheaper or faster is **not better**: these are means over the attempts of the sample "
        "that reported a value, passed or not. *Reported* shows how many did. They decide nothing.",
    ),
    Panel("Cost", Look.BARS, [(mean("cost_dollars"), _PAIR)], unit="currencyUSD", span=5),
    Panel("Agent's time", Look.BARS, [(mean("agent_seconds"), _PAIR)], unit="s", span=5),
    Panel("Tool calls", Look.BARS, [(mean("tool_calls"), _PAIR)], span=5),
    Panel("Model calls", Look.BARS, [(mean("model_calls"), _PAIR)], span=5),
    Panel(
        "Tokens", Look.BARS,
        [
            (
                f"sum by (stack, agent) ({_TOKENS}) / sum by (stack, agent) ({_TOKENS_REPORTED})",
                _PAIR,
            )
        ],
        span=6, says="All input and output, over the attempts that reported output.",
    ),
    Panel("Repair rounds", Look.BARS, [(mean("repair_rounds"), _PAIR)], span=6),
    Panel(
        "Spend above the cap", Look.BARS, [(mean("cost_overshoot_dollars"), _PAIR)],
        unit="currencyUSD", span=6,
    ),
    Panel(
        "Reported", Look.BARS,
        [
            (
                f"sum by (stack, agent) ({of('attempt_cost_dollars_count', _P)})"
                f" / sum by (stack, agent) ({of('attempts_total', _P, **_SAMPLE)})",
                _PAIR,
            )
        ],
        unit="percentunit", span=6, says="Attempts of the sample whose cost is known.",
    ),
)  # fmt: skip

_RELIABILITY = (
    Panel(
        "Rates", Look.BARS,
        [
            (
                f"sum by (flag) ({_YES} or 0 * {_FLAGS}) / sum by (flag) ({_FLAGS})",
                "{{flag}}",
            )
        ],
        unit="percentunit", says="Of the attempts that reported the flag.",
    ),
    Panel(
        "Failed model calls", Look.BARS,
        [(mean("model_call_failures"), _PAIR)], says="Per attempt: the provider's part.",
    ),
    Panel(
        "Time by stage", Look.BARS,
        [(quantile("0.5"), "{{stage}} median"), (quantile("0.95"), "{{stage}} 95 %")],
        unit="s", says="Over all recorded attempts; set-up is a part of pending.",
    ),
    Panel(
        "Set-up", Look.BARS, [(mean("setup_seconds"), _PAIR)], unit="s",
    ),
    Panel(
        "Packing of the final state", Look.BARS, [(mean("capture_seconds"), _PAIR)], unit="s",
    ),
    Panel(
        "Grading", Look.BARS, [(mean("grading_seconds"), _PAIR)], unit="s",
    ),
)  # fmt: skip

CAMPAIGN = Board(
    uid="agent-bench-campaign",
    title="agent-bench / Campaign",
    says="How campaigns go. Verdicts are not here: they come from the rows, by frozen rules.",
    variables=(
        Variable(
            "campaign_namespace",
            "Namespace",
            "label_values(agentbench_runs_planned, campaign_namespace)",
        ),
        Variable(
            "campaign",
            "Campaign",
            'label_values(agentbench_runs_planned{campaign_namespace=~"$campaign_namespace"}, '
            "campaign)",
        ),
        Variable("stack", "Stack", f"label_values(agentbench_attempts_total{{{_C}}}, stack)"),
        Variable("agent", "Agent", f"label_values(agentbench_attempts_total{{{_C}}}, agent)"),
    ),
    rows=(
        ("Where it stands", _STANDING),
        ("Progress", _PROGRESS),
        ("Outcomes", _OUTCOMES),
        ("Money", _MONEY),
        ("Efficiency", _EFFICIENCY),
        ("Reliability and times", _RELIABILITY),
    ),
)
