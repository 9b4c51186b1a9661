"""`agent-bench validate`: everything that is wrong with a pack."""

from dataclasses import asdict
from pathlib import Path

import click

from agentbench.cli.exits import Exit
from agentbench.cli.options import example, json_option, pack_argument


@click.command(
    epilog=example(
        "agent-bench validate", "agent-bench validate examples/quickstart --json | jq .problems"
    )
)
@pack_argument
@click.option("--strict", is_flag=True, help="Refuse what open items still owe, too.")
@json_option
def command(pack: Path, strict: bool, as_json: bool) -> int:
    """Say everything that is wrong with PACK: file, line, field, value and cure.

    Files that an open item of the protocol lists as still to be made do not make a draft invalid;
    they are listed, and a freeze refuses them.
    """
    from agentbench.cli.errors import explain
    from agentbench.cli.screen import Screen, count
    from agentbench.core.plan import plan
    from agentbench.pack.check import check
    from agentbench.pack.load import load_pack
    from agentbench.pack.problems import PackInvalid

    screen = Screen(as_json=as_json)
    try:
        loaded = load_pack(pack)
        problems = check(loaded)
    except PackInvalid as error:
        loaded, problems = None, list(error.problems)
    wrong = [problem for problem in problems if strict or not problem.open]
    runs = len(plan(loaded.spec)) if loaded is not None and not wrong else None
    if as_json:
        screen.data(
            {"valid": not wrong, "runs": runs, "problems": [asdict(each) for each in problems]}
        )
    if wrong:
        screen.note("" if as_json else explain(PackInvalid(wrong)))
        return Exit.BAD_INPUT
    if loaded is not None:
        spec = loaded.spec
        screen.say(
            f"{loaded.source.file} is valid: {count(len(spec.tasks), 'task')} x "
            f"{count(len(spec.stacks), 'stack')} x {count(len(spec.agents), 'agent')}, "
            f"{count(runs or 0, 'run')}."
        )
    if problems:
        screen.say(f"Open before a freeze: {len(problems)}")
        for problem in problems:
            screen.say(f"  {problem}")
    return Exit.OK
