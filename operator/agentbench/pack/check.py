"""Every rule that a pack must keep beyond its fields: all problems at once, not the first."""

from collections.abc import Callable, Iterator
from pathlib import Path

from agentbench.agents.registry import ADAPTERS
from agentbench.api.factors import Agent, Stack, Task
from agentbench.core.pricing import PriceList, PriceListError
from agentbench.pack.agent_settings import setting_problems
from agentbench.pack.consistency import faults
from agentbench.pack.files import FileMissing, FileRefused, is_executable, locate, members
from agentbench.pack.layout import Named, Want, named_files, needs_prices
from agentbench.pack.load import Pack
from agentbench.pack.problems import PackInvalid, Problem, nearest

MAX_PROMPT_BYTES = 1024 * 1024


def check(pack: Pack) -> list[Problem]:
    """Every problem of a pack; those that its own open items announce are marked open."""
    found = [
        pack.source.problem(fault.loc, fault.message, fault.cure, value=fault.value)
        for fault in faults(pack.spec, pack.name)
    ]
    for named in named_files(pack.spec):
        found += _file(pack, named)
    found += _prices(pack)
    found += _completeness(pack)
    return found


def require_valid(pack: Pack, *, ready: bool = False) -> None:
    """Stop unless a pack is valid.

    Args:
        pack: the pack.
        ready: whether what its open items still owe stops too, as it does before a run.

    Raises:
        PackInvalid: with every problem that stops.
    """
    stopping = [problem for problem in check(pack) if ready or not problem.open]
    if stopping:
        raise PackInvalid(stopping)


def owed(pack: Pack, path: str) -> bool:
    """Whether an unsettled open item says that this path is still to be made."""
    return any(
        path == listed.rstrip("/") or path.startswith(listed.rstrip("/") + "/")
        for item in pack.spec.protocol.open_items
        if not item.resolution
        for listed in item.files
    )


def _file(pack: Pack, named: Named) -> Iterator[Problem]:
    def problem(message: str, cure: str, *, open_: bool = False) -> Problem:
        return pack.source.problem(named.loc, message, cure, value=repr(named.path), open_=open_)

    try:
        path = locate(pack.root, named.path)
        if path.is_dir():
            if named.want is not Want.TREE:
                yield problem("is a folder", "Name a file.")
            elif next(members(path), None) is None:
                yield problem("the folder is empty", "Fill it, or leave the field out.")
        elif named.inside:
            yield problem("is a file", "Name a folder.")
        elif named.want is Want.PROGRAM and not is_executable(path):
            yield problem("the check is not executable", f"Run chmod +x {named.path}.")
        elif path.stat().st_size == 0:
            yield problem("the file is empty", "Write it.")
        elif named.loc[-2:] == ("prompt", "path"):
            yield from _prompt(path, problem)
    except FileMissing as error:
        yield problem(error.message, error.cure, open_=owed(pack, named.path))
    except FileRefused as error:
        yield problem(error.message, error.cure)
    except OSError as error:
        yield problem(f"cannot be read: {error.strerror}", "Mend its permissions.")


def _prompt(path: Path, problem: Callable[[str, str], Problem]) -> Iterator[Problem]:
    content = path.read_bytes()[: MAX_PROMPT_BYTES + 1]
    if len(content) > MAX_PROMPT_BYTES:
        yield problem("the prompt is larger than 1 MiB", "Shorten it.")
        return
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield problem(f"the prompt is not UTF-8 on its line {line}", "Save it as UTF-8.")


def _prices(pack: Pack) -> Iterator[Problem]:
    spec = pack.spec
    if not needs_prices(spec):
        return
    try:
        text = locate(pack.root, spec.prices).read_text("utf-8")
        prices = PriceList.parse(text, spec.prices)
    except (FileRefused, OSError):
        return  # said already, with the other files
    except UnicodeDecodeError:
        yield Problem(file=spec.prices, message="not UTF-8", cure="Save the file as UTF-8.")
        return
    except PriceListError as error:
        message, _, cure = str(error).removeprefix(f"{spec.prices}: ").rpartition(": ")
        yield Problem(file=spec.prices, message=message, cure=f"{cure[:1].upper()}{cure[1:]}.")
        return
    for n, agent in enumerate(spec.agents):
        if agent.provider is not None and agent.model and agent.model not in prices.models:
            yield pack.source.problem(
                ("spec", "agents", n, "model"),
                f"{spec.prices} has no price for this model",
                "Add its prices with their source and date: a model without a price stops a run "
                "before its first call.",
                value=repr(agent.model),
                open_=owed(pack, spec.prices),
            )


def _completeness(pack: Pack) -> Iterator[Problem]:
    spec = pack.spec
    for n, agent in enumerate(spec.agents):
        yield from _agent(pack, n, agent)
        yield from setting_problems(pack, n, agent)
    for n, stack in enumerate(spec.stacks):
        yield from _stack(pack, n, stack)
    for n, task in enumerate(spec.tasks):
        yield from _task(pack, n, task)


def _agent(pack: Pack, n: int, agent: Agent) -> Iterator[Problem]:
    loc = ("spec", "agents", n)
    if agent.adapter not in ADAPTERS:
        meant = nearest(agent.adapter, ADAPTERS)
        hint = f"Did you mean {meant}? " if meant else ""
        yield pack.source.problem(
            (*loc, "adapter"),
            "no adapter has this name",
            f"{hint}Known: {', '.join(sorted(ADAPTERS))}.",
            value=repr(agent.adapter),
        )
    if agent.adapter == "scripted" and agent.script is None:
        pairs = {f"{task.id}/{stack.id}" for task in pack.spec.tasks for stack in pack.spec.stacks}
        if missing := sorted(pairs - agent.scripts.keys()):
            yield pack.source.problem(
                (*loc, "script"),
                f"a scripted agent has no steps for {missing[0]}",
                "Name a file of steps as script, or one per TASK/STACK in scripts.",
            )
    if agent.provider is not None and not agent.model:
        yield pack.source.problem(
            (*loc, "model"), "is missing", "Pin the exact model id: its price depends on it."
        )


def _stack(pack: Pack, n: int, stack: Stack) -> Iterator[Problem]:
    loc = ("spec", "stacks", n)
    if stack.start is None:
        yield pack.source.problem(
            (*loc, "start"),
            "is missing: without it no final state can be judged",
            "Write the command that starts the app on $PORT.",
            open_=_open(pack),
        )
    for s, service in enumerate(stack.services):
        if service.kind == "container" and service.image is None:
            yield pack.source.problem(
                (*loc, "services", s, "image"),
                "a container service needs an image",
                "Pin one by digest.",
            )


def _task(pack: Pack, n: int, task: Task) -> Iterator[Problem]:
    loc = ("spec", "tasks", n)
    for stack in pack.spec.stacks:
        if task.generate:
            if stack.generate is None:
                yield pack.source.problem(
                    (*loc, "generate"),
                    f"stack {stack.id} has no generate command",
                    "Give the stack one, or give the task a seed.",
                    open_=_open(pack),
                )
        elif stack.id not in task.seeds:
            yield pack.source.problem(
                (*loc, "seeds"),
                f"there is no start state for stack {stack.id}",
                f"Add seeds.{stack.id}, or set generate: true.",
            )


def _open(pack: Pack) -> bool:
    """Whether the protocol still has an unsettled item: its stacks may then be unfinished."""
    return any(not item.resolution for item in pack.spec.protocol.open_items)
