"""What a machine needs for a pack, looked at one by one: each lack with its cure."""

import os
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentbench.api.factors import Agent
from agentbench.cli.findings import Finding, Health
from agentbench.core.pricing import PriceList, PriceListError
from agentbench.local import clock
from agentbench.local.isolation import Isolation
from agentbench.local.place import sandbox_path
from agentbench.local.probe import best_isolation_now, programs
from agentbench.local.services.kinds import ServiceUnavailable, kind_of
from agentbench.pack.files import FileRefused, locate
from agentbench.pack.load import Pack

LOW_DISK = 2 << 30
"""Bytes below which a campaign soon has no room for snapshots."""

_INSTALL = {
    "claude": "npm install -g @anthropic-ai/claude-code@VERSION",
    "codex": "npm install -g @openai/codex@VERSION",
    "opencode": "npm install -g opencode-ai@VERSION",
}


def examine(pack: Pack | None, show: Sequence[Path] = ()) -> list[Finding]:
    """Look at this machine, and at what a pack needs of it; `show` as a run is given it."""
    found = [*_machine(pack)]
    if pack is not None:
        found += [*_services(pack), *_agents(pack, show), *_prices(pack), *_commands(pack)]
    return found


def _machine(pack: Pack | None) -> Iterator[Finding]:
    yield Finding(Health.OK, "Python", sys.version.split()[0])
    yield _program("git", "a freeze records its commit", Health.WARN, "apt-get install git")
    library = clock.library()
    yield Finding(
        Health.OK if library else Health.WARN,
        "libfaketime",
        library or "not installed: checks cannot move an app's clock",
        "" if library else f"{clock.INSTALL[0].upper()}{clock.INSTALL[1:]}.",
    )
    folder = pack.root if pack is not None else Path()
    free = shutil.disk_usage(folder).free
    yield Finding(
        Health.OK if free > LOW_DISK else Health.WARN,
        "Disk",
        f"{free / (1 << 30):.1f} GiB free",
        "" if free > LOW_DISK else "Free some space, or keep rows elsewhere with run --store.",
    )
    writable = os.access(folder, os.W_OK)
    yield Finding(
        Health.OK if writable else Health.MISSING,
        "Folder",
        f"{folder.resolve()} is {'writable' if writable else 'read-only'}",
        "" if writable else "Make it writable, or keep rows elsewhere with run --store.",
    )
    yield _ports()
    yield _isolation()


def _isolation() -> Finding:
    """What keeps a run in on this machine: found by trying it."""
    best = best_isolation_now()
    if best is Isolation.PROCESS_GROUP:
        return Finding(
            Health.WARN,
            "Isolation",
            f"{best}: runs share files and network with this machine",
            "Run as root on Linux, or allow user namespaces: "
            "sysctl kernel.unprivileged_userns_clone=1.",
        )
    return Finding(Health.OK, "Isolation", str(best))


def _ports() -> Finding:
    """Whether loopback ports can be had at all: every app and service needs one."""
    try:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
    except OSError as error:
        return Finding(
            Health.MISSING, "Ports", f"no loopback port: {error.strerror}", "Bring up loopback: "
            "ip link set lo up.",
        )  # fmt: skip
    return Finding(Health.OK, "Ports", "loopback ports are free")


def _program(name: str, why: str, lack: Health, cure: str) -> Finding:
    path = shutil.which(name)
    if path is not None:
        return Finding(Health.OK, name, path)
    return Finding(lack, name, f"not on PATH: {why}", f"Install it: {cure}.")


def _services(pack: Pack) -> Iterator[Finding]:
    kinds = {service.kind: stack.id for stack in pack.spec.stacks for service in stack.services}
    for kind, stack in kinds.items():
        try:
            kind_of(kind, "")
        except ServiceUnavailable as error:
            message, _, cure = str(error).partition(": ")
            cure = f"{cure[:1].upper()}{cure[1:]}."
            yield Finding(Health.MISSING, f"service {kind} ({stack})", message, cure)
        else:
            yield Finding(Health.OK, f"service {kind} ({stack})", "can be started")


def _agents(pack: Pack, show: Sequence[Path]) -> Iterator[Finding]:
    """The programs that agents are started with, where a run would look for them."""
    looked = sandbox_path([folder.absolute() for folder in show])
    for agent in pack.spec.agents:
        what = f"agent {agent.id}"
        found = programs(agent, looked)
        if not found:
            yield Finding(Health.OK, what, f"{agent.adapter}: part of the pack")
        for name, path in found.items():
            install = _INSTALL.get(name, f"apt-get install {name}")
            install = install.replace("VERSION", agent.version or "latest")
            yield Finding(
                Health.OK if path else Health.MISSING,
                what,
                f"{name}: {path or f'not on the PATH of a run ({looked})'}",
                "" if path else f"Install it: {install}, or give its folder to --show.",
            )
        yield from _key(agent)


def _key(agent: Agent) -> Iterator[Finding]:
    name = agent.provider.key_env if agent.provider is not None else None
    if name is None:
        return
    there = bool(os.environ.get(name))
    yield Finding(
        Health.OK if there else Health.MISSING,
        f"key of {agent.id}",
        f"${name} is {'set' if there else 'not set'}",
        "" if there else f"Set it in the shell that runs the campaign: export {name}=...",
    )


def _prices(pack: Pack) -> Iterator[Finding]:
    wanted = [agent.model for agent in pack.spec.agents if agent.provider is not None]
    if not wanted:
        return
    name = pack.spec.prices
    try:
        prices = PriceList.parse(locate(pack.root, name).read_text("utf-8"), name)
    except (FileRefused, PriceListError, OSError, UnicodeDecodeError) as error:
        yield Finding(Health.MISSING, "prices", str(error), f"Mend {name}.")
        return
    for model in dict.fromkeys(wanted):
        price = prices.models.get(model)
        yield Finding(
            Health.OK if price else Health.MISSING,
            f"price of {model}",
            f"${price.input} in, ${price.output} out per million tokens, {price.date}"
            if price
            else f"{name} does not name it",
            "" if price else f"Add it to {name}, with its source and date.",
        )


def _commands(pack: Pack) -> Iterator[Finding]:
    """The programs that the stacks' commands begin with."""
    programs: dict[str, str] = {}
    for stack in pack.spec.stacks:
        named = (stack.generate, stack.setup, stack.build, stack.migrate, stack.start, stack.test)
        for command in (*named, *stack.workers):
            if command is not None and (program := first_program(command.run)):
                programs.setdefault(program, stack.id)
    for program, stack_id in programs.items():
        path = shutil.which(program)
        yield Finding(
            Health.OK if path else Health.WARN,
            f"{program} ({stack_id})",
            path or "not on PATH",
            "" if path else f"Install what provides {program}, or let the stack's setup do it.",
        )


def first_program(command: str) -> str:
    """The program that a shell command starts first; empty where that is no plain name."""
    words = [word for word in command.split() if "=" not in word.split("/")[0] and word != "exec"]
    first = words[0] if words else ""
    plain = first.replace("-", "").replace("_", "").replace(".", "").isalnum()
    return first if plain and first not in ("cd", "test", "export", "set", "for", "if") else ""
