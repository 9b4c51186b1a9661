"""`agent-bench plan`: every run in its order."""

from pathlib import Path

import click

from agentbench.cli.options import example, json_option, pack_argument


@click.command(
    epilog=example("agent-bench plan", "agent-bench plan --first 10", "agent-bench plan --json")
)
@pack_argument
@click.option("--first", type=click.IntRange(1), help="List only that many runs.")
@json_option
def command(pack: Path, first: int | None, as_json: bool) -> None:
    """List every run of PACK in the order in which it starts, and the most they can cost.

    The order is a function of the frozen seed alone: the same on every machine.
    """
    from agentbench.api.base import dollars
    from agentbench.cli.screen import Screen
    from agentbench.core.plan import plan
    from agentbench.pack.check import require_valid
    from agentbench.pack.load import load_pack

    loaded = load_pack(pack)
    require_valid(loaded)
    spec = loaded.spec
    runs = plan(spec)
    shown = runs[:first]
    cap = dollars(spec.caps.cost_usd)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.data(
            {
                "campaign": loaded.name,
                "protocol": spec.protocol.id,
                "seed": spec.order.seed,
                "runs": len(runs),
                "worstCaseUSD": str(cap * len(runs)),
                "budgetUSD": spec.budget.total_usd if spec.budget else None,
                "order": [
                    {
                        "order": run.order,
                        "run": run.id,
                        "phase": run.phase,
                        "task": run.cell.task,
                        "stack": run.cell.stack,
                        "agent": run.cell.agent,
                        "plugins": list(run.cell.plugins),
                        "repeat": run.repeat,
                    }
                    for run in shown
                ],
            }
        )
        return
    plugins = bool(spec.plugins)
    headers = ["#", "Run", "Phase", "Task", "Stack", "Agent", *(["Plugins"] if plugins else [])]
    screen.table(
        headers,
        [
            [
                run.order + 1,
                run.id,
                run.phase,
                run.cell.task,
                run.cell.stack,
                run.cell.agent,
                *([",".join(run.cell.plugins) or "none"] if plugins else []),
            ]
            for run in shown
        ],
        right=["#"],
    )
    screen.note(_summary(len(runs), len(shown), cap * len(runs), spec.budget))


def _summary(total: int, shown: int, worst: object, budget: object) -> str:
    part = "" if shown == total else f" ({shown} shown)"
    limit = f", budget ${getattr(budget, 'total_usd', '')}" if budget else ", no budget"
    return f"{total} runs{part}; at most ${worst} if every run spends its whole cap{limit}."
