"""`agent-bench freeze`: one digest over everything that can move a result."""

from pathlib import Path

import click

from agentbench.cli.options import example, json_option, pack_argument


@click.command(
    epilog=example(
        "agent-bench gate && agent-bench freeze",
        "agent-bench freeze --bundle-url s3://bucket/prefix",
    )
)
@pack_argument
@click.option(
    "--bundle-url",
    default=None,
    help="Where runs will find the bundle, such as s3://bucket/prefix; copy frozen/bundle there. "
    "No part of the digest.  [default: frozen/bundle]",
)
@json_option
def command(pack: Path, bundle_url: str | None, as_json: bool) -> None:
    """Freeze PACK: write frozen/campaign.yaml, frozen/bundle and locks/FREEZE.

    A pack freezes only when nothing is missing, no blocking item is open and its gates have
    passed; otherwise everything that is missing is listed, and nothing is written. Commit what it
    wrote: that commit is the pre-registration.
    """
    from agentbench.cli.clock import git_changes, git_commit, now
    from agentbench.cli.screen import Screen
    from agentbench.pack.freeze import freeze
    from agentbench.pack.load import load_pack
    from agentbench.pack.prepare import BUNDLE_URL

    loaded = load_pack(pack)
    commit = git_commit(loaded.root)
    dirty = commit is not None and git_changes(loaded.root)
    frozen = freeze(loaded, now=now(), commit=commit, bundle_url=bundle_url or BUNDLE_URL)
    record = frozen.record
    screen = Screen(as_json=as_json)
    if as_json:
        screen.data(
            {
                "digest": record.digest,
                "bundle": record.bundle,
                "frozenAt": record.frozen_at,
                "commit": record.commit,
                "manifest": str(frozen.manifest),
                "files": len(record.files),
                "already": frozen.already,
            }
        )
    word = "Was frozen already" if frozen.already else "Frozen"
    screen.say(f"{word}: {record.protocol}, {len(record.files)} files, {record.frozen_at}.")
    screen.say(f"  digest    {record.digest}")
    screen.say(f"  manifest  {frozen.manifest}")
    if dirty and not frozen.already:
        screen.note("The pack has changes that its git commit lacks: commit them with the freeze.")
    if not frozen.already:
        screen.say("Commit frozen/ and locks/ now, then: agent-bench run " + str(loaded.root))
