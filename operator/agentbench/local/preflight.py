"""What must be there before a campaign is run on this machine, and what the user may choose."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentbench.api.campaign import CampaignSpec
from agentbench.local.agent import provider_key
from agentbench.local.isolation import Isolation
from agentbench.local.place import sandbox_path
from agentbench.local.probe import best_isolation, missing_programs, missing_services, why_not
from agentbench.store.folder import PRIVATE, FolderStore


class EngineError(RuntimeError):
    """The campaign cannot be run as it is; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """How a campaign is carried out. Nothing here can move a result.

    `state`: the engine's own folder, on a local disk; see `state_of`. `parallel`: live runs at
    once, the campaign's `parallelism` by default. `isolation`: None takes the best that works.
    `show`: folders of toolchains that sandboxes see read-only. `hide`: folders that none may see.
    `keep_work`: leave the files of finished attempts.
    """

    state: Path
    parallel: int | None = None
    isolation: Isolation | None = None
    show: Sequence[Path] = ()
    hide: Sequence[Path] = ()
    keep_work: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def state_of(store: FolderStore) -> Path:
    """The usual place of the engine's own folder: in the store's, and no part of its content."""
    return store.root / PRIVATE / "engine"


def require_what_runs_need(spec: CampaignSpec, options: EngineOptions) -> None:
    """See that services, programs and keys are there; EngineError says what is missing."""
    path = sandbox_path([folder.absolute() for folder in options.show])
    missing = [
        *missing_services(spec.stacks),
        *missing_programs(spec.agents, path),
    ]
    if missing:
        raise EngineError("; ".join(missing))
    for agent in spec.agents:
        if provider_key(agent, options.environment) is None and agent.provider:
            raise EngineError(
                f"agents {agent.id}: the variable {agent.provider.key_env} with the "
                "provider's key is not set: export it, and run the same command again"
            )


async def isolation_for(wanted: Isolation | None) -> Isolation:
    """The isolation that was asked for, or the best that works here; EngineError if it does not."""
    if wanted is None:
        return await best_isolation()
    reason = await why_not(wanted)
    if reason is not None:
        raise EngineError(
            f"isolation {wanted} does not work on this machine ({reason}): leave it out to "
            "take the best that does"
        )
    return wanted


def open_the_way(state: Path) -> None:
    """Without walls the sandbox's user reaches its workplace over the machine's own folders.

    Raises:
        EngineError: a folder above the state lets other users not pass.
    """
    if os.geteuid() != 0:
        return
    state.mkdir(parents=True, exist_ok=True)
    for folder in (state, *state.parents):
        if folder.name == PRIVATE:
            folder.chmod(0o711)
        if not folder.stat().st_mode & stat.S_IXOTH:
            raise EngineError(
                f"{folder} lets other users not pass, and this machine allows no namespaces: "
                f"put the store elsewhere, or run chmod o+x {folder}"
            )
