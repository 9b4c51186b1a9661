"""`agent-bench verify`: a freeze, computed again."""

from dataclasses import asdict
from pathlib import Path

import click

from agentbench.cli.exits import Exit
from agentbench.cli.options import example, json_option, pack_argument


@click.command(epilog=example("agent-bench verify", "agent-bench verify frozen/campaign.yaml"))
@pack_argument
@json_option
def command(pack: Path, as_json: bool) -> int:
    """Compute the digest, the bundle and every file's hash of a freeze again.

    One changed byte is found, and its file is named. PACK is a pack that was frozen, or its
    frozen/campaign.yaml.
    """
    from agentbench.cli.errors import explain
    from agentbench.cli.screen import Screen
    from agentbench.core.digest import digest
    from agentbench.pack.load import frozen_pack
    from agentbench.pack.problems import PackInvalid
    from agentbench.pack.verify import verify

    manifest = frozen_pack(pack)
    problems = verify(manifest)
    found = digest(manifest.spec)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.data(
            {
                "verified": not problems,
                "digest": found,
                "problems": [asdict(problem) for problem in problems],
            }
        )
    if problems:
        screen.note("" if as_json else explain(PackInvalid(problems)))
        return Exit.BAD_INPUT
    screen.say(f"Verified: {manifest.spec.protocol.id} is as it was frozen.")
    screen.say(f"  digest  {found}")
    return Exit.OK
