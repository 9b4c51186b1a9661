"""Which files of a pack go into which layer: a pod is handed the layers that it may see."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from agentbench.api.campaign import CampaignSpec
from agentbench.core.bundle import (
    CHECKS_LAYER,
    GATE_LAYER,
    PROTOCOL_LAYER,
    SCRIPTS_LAYER,
    plugin_layer,
    seed_layer,
    solution_layer,
)
from agentbench.pack.problems import Loc


class Want(StrEnum):
    """What a named path must be."""

    FILE = "file"
    PROGRAM = "program"  # a file that its owner may execute
    TREE = "tree"  # a folder, or a file


@dataclass(frozen=True, slots=True)
class Named:
    """One path that the campaign names.

    `inside` says that the layer's names begin below the path (a start state is unpacked into
    an empty workspace), and not at the pack's folder.
    """

    loc: Loc
    path: str
    layer: str
    want: Want = Want.FILE
    inside: bool = False

    @property
    def hashed(self) -> bool:
        """Whether the field is a FileRef, whose sha256 a freeze fills in."""
        return self.loc[-1] == "path" and self.loc[-3] != "mutants"


def named_files(spec: CampaignSpec) -> Iterator[Named]:
    """Every path of the pack that a spec names, in the order of the spec."""
    at: Loc
    yield from _protocol(spec)
    for n, task in enumerate(spec.tasks):
        at = ("spec", "tasks", n)
        yield Named((*at, "prompt", "path"), task.prompt.path, PROTOCOL_LAYER)
        yield Named((*at, "check", "path"), task.check.path, CHECKS_LAYER, Want.PROGRAM)
        for stack, ref in task.seeds.items():
            layer = seed_layer(task.id, stack)
            yield Named((*at, "seeds", stack, "path"), ref.path, layer, Want.TREE, inside=True)
        for stack, ref in task.solutions.items():
            layer = solution_layer(task.id, stack)
            yield Named((*at, "solutions", stack, "path"), ref.path, layer, Want.TREE, inside=True)
        for m, mutant in enumerate(task.mutants):
            yield Named((*at, "mutants", m, "path"), mutant.path, GATE_LAYER, Want.TREE)
    for n, stack_ in enumerate(spec.stacks):
        at = ("spec", "stacks", n)
        if stack_.lock is not None:
            yield Named((*at, "lock", "path"), stack_.lock.path, PROTOCOL_LAYER)
        for s, service in enumerate(stack_.services):
            if service.script is not None:
                script = (*at, "services", s, "script", "path")
                yield Named(script, service.script.path, SCRIPTS_LAYER)
    for n, agent in enumerate(spec.agents):
        at = ("spec", "agents", n)
        if agent.script is not None:
            yield Named((*at, "script", "path"), agent.script.path, SCRIPTS_LAYER)
        if agent.provider is not None and agent.provider.mock is not None:
            mock = (*at, "provider", "mock", "path")
            yield Named(mock, agent.provider.mock.path, SCRIPTS_LAYER)
        for pair, ref in agent.scripts.items():
            yield Named((*at, "scripts", pair, "path"), ref.path, SCRIPTS_LAYER)
    for n, plugin in enumerate(spec.plugins):
        at = ("spec", "plugins", n, "path", "path")
        yield Named(at, plugin.path.path, plugin_layer(plugin.id), Want.TREE, inside=True)
    if spec.checks.security is not None:
        at = ("spec", "checks", "security", "path")
        yield Named(at, spec.checks.security.path, CHECKS_LAYER, Want.PROGRAM)
    if spec.checks.library is not None:
        at = ("spec", "checks", "library", "path")
        yield Named(at, spec.checks.library.path, CHECKS_LAYER, Want.TREE)


def _protocol(spec: CampaignSpec) -> Iterator[Named]:
    protocol = spec.protocol
    if protocol.text is not None:
        yield Named(("spec", "protocol", "text"), protocol.text, PROTOCOL_LAYER)
    for n, lock in enumerate(protocol.locks):
        yield Named(("spec", "protocol", "locks", n), lock, PROTOCOL_LAYER, Want.TREE)
    if needs_prices(spec):
        yield Named(("spec", "prices"), spec.prices, PROTOCOL_LAYER)


def needs_prices(spec: CampaignSpec) -> bool:
    """Whether any agent calls a model, which must then have a price."""
    return any(agent.provider is not None for agent in spec.agents)
