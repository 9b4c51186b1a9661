"""What the protocol says, as the site shows it; whoever holds the campaign fills it in."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of a two-column list: an id or a term, and what it stands for."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A stack under comparison."""

    id: str
    name: str
    start: str = ""  # its exact starting point
    context_files: str = ""  # what its own context files may be
    reference: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent and its one pinned model, with the word on how the pin was verified."""

    id: str
    name: str
    model: str
    verified: bool
    verification: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task, as the agent reads it and as it is checked."""

    id: str
    summary: str
    start: str = ""
    check: str = ""
    prompt: str = ""  # the words that the agent reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A dated change after the freeze."""

    seq: int
    date: str
    change: str
    why: str
    any_run_started: bool
    effects: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryBenchmark:
    """A package and where its own benchmark is published; no link means there is none."""

    package: str
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmarks:
    """The separate table of library benchmarks."""

    note: str = ""
    packages: tuple[LibraryBenchmark, ...] = ()

    @property
    def published(self) -> int:
        """How many packages publish a benchmark."""
        return sum(package.link is not None for package in self.packages)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolPage:
    """Everything that the protocol page shows, and what other pages quote from it.

    `text` is the full protocol in Markdown. `digest` is empty for a draft.
    """

    id: str
    title: str
    claim: str  # the question that the benchmark answers, in a sentence or two
    digest: str = ""
    frozen_at: str = ""
    commit: str = ""
    draft: bool = False
    claim_rule: str = ""  # what may be said, and when
    conditions: tuple[Entry, ...] = ()
    hypotheses: tuple[Entry, ...] = ()
    plan: tuple[Entry, ...] = ()  # how it will be run
    stacks: tuple[Stack, ...] = ()
    agents: tuple[Agent, ...] = ()
    tasks: tuple[Task, ...] = ()
    open_items: tuple[Entry, ...] = ()
    security_checks: tuple[str, ...] = ()
    amendments: tuple[Amendment, ...] = ()
    limits: tuple[str, ...] = ()  # of the study
    text: str = ""
    benchmarks: Benchmarks = field(default_factory=Benchmarks)
