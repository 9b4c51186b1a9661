"""`agent-bench init`: a pack to edit."""

import secrets
from pathlib import Path

import click

from agentbench.cli.options import example, json_option


@click.command(epilog=example("agent-bench init my-bench", "agent-bench run my-bench"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", help="The campaign's name.  [default: the folder's]")
@click.option("--protocol", help="The protocol's id.  [default: made from the name]")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Order seed.  [default: drawn]")
@json_option
def command(
    folder: Path, name: str | None, protocol: str | None, seed: int | None, as_json: bool
) -> None:
    """Make a pack in FOLDER that validates, passes its gates and runs as it is.

    One task on two Python starting points, with an oracle and an agent that does nothing: no
    key, no cluster and no network service is needed.
    """
    from agentbench.cli.scaffolding import scaffold
    from agentbench.cli.screen import Screen

    drawn = secrets.randbelow(2**31) if seed is None else seed
    files = scaffold(folder, name=name, protocol=protocol, seed=drawn)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.data({"pack": str(folder), "files": files})
    screen.say(f"Made {folder} with {len(files)} files. Next:")
    screen.say(f"  agent-bench validate {folder}")
    screen.say(f"  agent-bench run {folder}")
    screen.say(f"  agent-bench report {folder}")
