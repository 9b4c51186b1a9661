"""Suspending, resuming and cancelling a campaign: one field each, written once."""

import sys
from dataclasses import dataclass

import click

from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.cluster.finding import campaign
from agentbench.cli.cluster.paths import CAMPAIGNS
from agentbench.cli.cluster.views import CampaignView
from agentbench.cli.screen import Screen, count
from agentbench.core.decide import CampaignPhase

_OVER = (CampaignPhase.COMPLETE, CampaignPhase.CANCELLED)


@dataclass(frozen=True, slots=True)
class Steered:
    """What became of a wish."""

    campaign: CampaignView
    changed: bool
    said: str


def suspend(connection: Connection, name: str) -> Steered:
    """Start no more runs; live ones go on."""
    found = campaign(connection, name)
    _require_alive(found, "suspended")
    if found.suspend:
        return Steered(found, False, f"{name} was suspended already.")
    _write(connection, name, "suspend", True)
    live = found.tally.live
    rest = f"; {count(live, 'live run')} still to end and be recorded" if live else ""
    return Steered(found, True, f"{name} starts no more runs{rest}.")


def resume(connection: Connection, name: str) -> Steered:
    """Start runs again."""
    found = campaign(connection, name)
    _require_alive(found, "resumed")
    if not found.suspend:
        return Steered(found, False, f"{name} was not suspended.")
    _write(connection, name, "suspend", False)
    left = found.tally.total - found.tally.done
    return Steered(found, True, f"{name} goes on: {count(left, 'run')} to go.")


def cancel(connection: Connection, name: str, *, sure: bool, screen: Screen) -> Steered:
    """End a campaign for good, if its user is sure.

    Raises:
        click.Abort: the user is not.
    """
    found = campaign(connection, name)
    if found.cancel:
        return Steered(found, False, f"{name} was cancelled already.")
    _require_alive(found, "cancelled")
    price = cost(found)
    if not sure:
        screen.note(price)
        if not sys.stdin.isatty():
            raise click.UsageError("Nobody is there to ask: say --yes if you are sure.")
        click.confirm(f"Cancel {name}?", abort=True, err=True)
    _write(connection, name, "cancel", True)
    return Steered(found, True, f"{name} is being cancelled. {price}")


def cost(found: CampaignView) -> str:
    """What a cancel costs."""
    tally = found.tally
    never = tally.total - tally.done - tally.live
    live = (
        f"{count(tally.live, 'live run')} {'ends' if tally.live == 1 else 'end'} now and "
        f"{'is' if tally.live == 1 else 'are'} recorded as aborted; what the models have charged "
        f"for {'it' if tally.live == 1 else 'them'} (at most ${tally.reserved:.2f}) is spent. "
        if tally.live
        else ""
    )
    return (
        f"{live}{count(tally.done, 'recorded run')} and ${tally.spent:.2f} spent stay as they are; "
        f"{count(never, 'run')} will never start, and its verdict stays incomplete. "
        "A cancelled campaign cannot be resumed."
    )


def _require_alive(found: CampaignView, word: str) -> None:
    if found.cancel or found.phase in _OVER:
        phase = "Cancelled" if found.cancel else found.phase
        raise BadCluster(f"campaign {found.name} is {phase}: it cannot be {word} any more")


def _write(connection: Connection, name: str, field: str, value: bool) -> None:
    connection.merge(CAMPAIGNS, name, {"spec": {field: value}})


def tell(steered: Steered, screen: Screen) -> None:
    """Say what became of it."""
    found = steered.campaign
    if screen.as_json:
        screen.data(
            {
                "campaign": found.name,
                "namespace": found.namespace,
                "changed": steered.changed,
                "live": found.tally.live,
                "done": found.tally.done,
                "total": found.tally.total,
                "message": steered.said,
            }
        )
    screen.say(steered.said)
