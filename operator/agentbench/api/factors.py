"""The factors under comparison: tasks, stacks, agents and plugins."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from agentbench.api.base import (
    EnvName,
    EnvValue,
    Host,
    Id,
    Image,
    Line,
    Model,
    Name,
    Path,
    Sha256,
    Text,
    TimeLimit,
)
from agentbench.api.protocol import Verification

Label = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=40)]


class FileRef(Model):
    """A file or folder of the pack; a freeze adds its hash."""

    path: Path = Field(description="Path relative to the pack's root.")
    sha256: Sha256 | None = Field(None, description="Set by `agent-bench freeze`.")


class Mutant(Model):
    """A variant of the reference solution with a verdict known beforehand, for the gates."""

    path: Path = Field(description="Folder laid over the reference solution.")
    stack: Id = Field(description="Stack that it is made for.")
    fails: Id | None = Field(
        None,
        description="Assertion that must fail, in the check or the security check; left out for a "
        "look-alike, right in another way, which must pass.",
    )


class Task(Model):
    """One thing that an agent must do, the same words on every stack."""

    id: Id = Field(description="Task id, such as AB-T01.")
    name: Name = Field(description="One line for people.")
    prompt: FileRef = Field(description="The prompt, sent word for word.")
    check: FileRef = Field(description="Executable that judges the final state from outside.")
    seeds: dict[Id, FileRef] = Field(
        default_factory=dict, max_length=20, description="Start state per stack id."
    )
    solutions: dict[Id, FileRef] = Field(
        default_factory=dict, max_length=20, description="Reference solution per stack id."
    )
    mutants: tuple[Mutant, ...] = Field((), max_length=100, description="Faults for the gate.")
    generate: bool = Field(
        False, description="Whether the stack's generator makes the start state."
    )
    timeout: TimeLimit | None = Field(None, description="Time limit of one check execution.")


class Command(Model):
    """A shell command with a time limit."""

    run: Annotated[str, Field(min_length=1, max_length=4000)] = Field(
        description="Given to `sh -c` in the workspace."
    )
    timeout: TimeLimit = Field("10m", description="After this long it has failed.")


class Service(Model):
    """Something that a stack needs beside its app; fresh in every run and every check."""

    name: Label = Field(description="Name, unique within the stack.")
    kind: Literal["postgres", "redis", "mock-model", "mail", "container"] = Field(
        description="What it is; `container` runs any image and needs a cluster."
    )
    image: Image | None = Field(None, description="Image on a cluster, pinned by digest.")
    env: dict[EnvName, EnvValue] = Field(
        default_factory=dict,
        max_length=20,
        description="Variables for the app; {url}, {host} and {port} are filled in.",
    )
    script: FileRef | None = Field(None, description="Script of a mock model server.")


class Lockfile(Model):
    """A lock file that a check may read by name."""

    name: Label = Field(description="Name in `GET /lockfile/NAME`.")
    path: Path = Field(description="Path in the workspace.")


class Stack(Model):
    """A starting point: its commands, services and image, declared as data."""

    id: Id = Field(description="Stack id, such as AB-S1.")
    name: Name = Field(description="Name for people.")
    version: Line = Field("", description="Pinned version.")
    verification: Verification | None = Field(None, description="How far the pin was checked.")
    lock: FileRef | None = Field(None, description="Lock of its packages, images and tools.")
    context_files: tuple[Path, ...] = Field(
        (), max_length=20, description="Agent context files that its own template ships."
    )
    image: Image | None = Field(None, description="Toolchain image for checks, by digest.")
    generate: Command | None = Field(None, description="Makes a new app in an empty folder.")
    setup: Command | None = Field(None, description="Installs what the seed needs; setup time.")
    build: Command | None = Field(None, description="Builds the app.")
    migrate: Command | None = Field(None, description="Brings the database's schema up to date.")
    start: Command | None = Field(None, description="Starts the app; it listens on $PORT.")
    workers: tuple[Command, ...] = Field((), max_length=10, description="Run beside the app.")
    test: Command | None = Field(None, description="The app's own tests.")
    services: tuple[Service, ...] = Field((), max_length=10, description="Fresh for every run.")
    env: dict[EnvName, EnvValue] = Field(
        default_factory=dict, max_length=50, description="Variables of every command."
    )
    health: Annotated[str, Field(pattern=r"^/", max_length=200)] = Field(
        "/health", description="Path that answers 200 when the app is up."
    )
    start_timeout: TimeLimit = Field("2m", description="Time the app has to become healthy.")
    lockfiles: tuple[Lockfile, ...] = Field((), max_length=10, description="Readable by checks.")


class Provider(Model):
    """Where an agent's model is called, by the warden alone."""

    api: Literal["anthropic", "openai"] = Field(description="Protocol that the agent speaks.")
    base_url: Annotated[str, Field(pattern=r"^https?://", max_length=500)] | None = Field(
        None, description="Address of the API; the vendor's own when empty."
    )
    mock: FileRef | None = Field(
        None, description="Script of a mock provider that is started in place of the API."
    )
    key_env: EnvName | None = Field(None, description="Variable with the key, on one machine.")
    key_secret: Name | None = Field(None, description="Secret with the key, on a cluster.")

    @model_validator(mode="after")
    def _one_address(self) -> "Provider":
        if self.mock is not None and self.base_url is not None:
            raise ValueError("mock takes the place of baseUrl: keep one of the two")
        return self


class Agent(Model):
    """A coding agent with one pinned model and fixed settings."""

    id: Id = Field(description="Agent id, such as AB-A1.")
    name: Name = Field(description="Name for people.")
    adapter: Label = Field(description="Adapter: claude-code, codex, command, scripted, ...")
    version: Line = Field("", description="Exact version pin.")
    model: Line = Field("", description="Exact model id.")
    provider: Provider | None = Field(None, description="None for an agent that calls no model.")
    verification: Verification | None = Field(None, description="How far the pins were checked.")
    settings: dict[Name, Text] = Field(
        default_factory=dict, max_length=50, description="Adapter settings, the same on all stacks."
    )
    script: FileRef | None = Field(None, description="Steps of a scripted agent.")
    scripts: dict[Name, FileRef] = Field(
        default_factory=dict,
        max_length=200,
        description="Steps of a scripted agent per `TASK/STACK`, in place of `script`.",
    )
    images: dict[Id, Image] = Field(
        default_factory=dict, max_length=20, description="Image per stack id, by digest."
    )


class Plugin(Model):
    """An optional fourth factor: on or off in every combination."""

    id: Id = Field(description="Plugin id.")
    name: Name = Field(description="Name for people.")
    path: FileRef = Field(description="Folder copied into the workspace when it is on.")
    target: Path = Field(".agents/skills", description="Where in the workspace it goes.")


class Egress(Model):
    """Hosts that may be reached, by class of caller."""

    agent: tuple[Host, ...] = Field((), max_length=100, description="For the agent.")
    model: tuple[Host, ...] = Field((), max_length=20, description="For the warden alone.")
