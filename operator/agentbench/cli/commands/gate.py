"""`agent-bench gate`: checks, tried on final states whose verdict is known."""

from pathlib import Path

import click

from agentbench.cli.exits import Exit
from agentbench.cli.options import example, json_option, pack_argument


@click.command(epilog=example("agent-bench gate", "agent-bench gate examples/quickstart -j 2"))
@pack_argument
@click.option(
    "-j", "--parallel", default=1, show_default=True, type=click.IntRange(1, 64), help="At once."
)
@json_option
def command(pack: Path, parallel: int, as_json: bool) -> int:
    """Try every check of PACK on final states whose verdict is known beforehand.

    The reference solution must pass every repeat and raise no security flag; an untouched start
    state must fail; each seeded fault must fail the assertion that it names; a look-alike must
    pass. The evidence goes to locks/GATES, which a freeze asks for. Exit code 1: a gate fails.
    """
    from agentbench.cli.gating import try_gates
    from agentbench.cli.screen import Screen, count
    from agentbench.pack.load import GATES_FILE, load_pack

    loaded = load_pack(pack)
    screen = Screen(as_json=as_json)
    evidence = try_gates(loaded, parallel, screen)
    failed = [result for result in evidence.results if not result.ok]
    if as_json:
        screen.data(evidence.model_dump(mode="json", by_alias=True) | {"passed": not failed})
    if failed:
        screen.note(f"{count(len(failed), 'gate')} of {len(evidence.results)} failed.")
        return Exit.NEGATIVE
    screen.note(f"All {len(evidence.results)} gates passed: {loaded.root / GATES_FILE}")
    return Exit.OK
