"""What the programs in a pod are told, each by a file that no other container mounts."""

from typing import Any, Literal

from pydantic import Field

from agentbench.core.summary import Frozen


class Download(Frozen):
    """One layer to restore: where it is, what it must hash to, and where it goes.

    A layer is named by the hash of its tar, a captured state by that of its compressed file.
    """

    url: str
    target: str
    sha256: str = ""
    packed_sha256: str = ""


class Upload(Frozen):
    """An address that takes one new object, and the headers that its signature covers."""

    url: str
    headers: dict[str, str] = Field(default_factory=dict)


class SeedTold(Frozen):
    """For the program that restores a start state (`agentbench.seed/v1`)."""

    schema_: Literal["agentbench.seed/v1"] = Field("agentbench.seed/v1", alias="schema")
    layers: tuple[Download, ...]
    gateway: str | None = None  # address of the forward proxy with this attempt's credential
    limit: int = 16 << 30  # bytes that all layers together may unpack to


class SetUp(Frozen):
    """One command run in the agent's container before the first prompt. Time limit in seconds."""

    name: str  # generate, plugins or setup
    run: str
    timeout: float
    env: dict[str, str] = Field(default_factory=dict)


class MockTold(Frozen):
    """A mock provider for the warden to call: its script, and the Unix socket it listens on."""

    path: str  # of the script in the pack, for messages
    script: str
    socket: str


class SidecarTold(Frozen):
    """For the warden as a sidecar (`agentbench.sidecar/v1`).

    `claim` is the mark of this attempt's start: whoever cannot create it must not start an
    agent, since one was started before. `refusals` is the gateway's address with the credential
    that asks what was refused to this attempt.
    """

    schema_: Literal["agentbench.sidecar/v1"] = Field("agentbench.sidecar/v1", alias="schema")
    warden: dict[str, Any]  # agentbench.warden/v1
    setup: tuple[SetUp, ...] = ()
    mock: MockTold | None = None
    claim: Upload
    uploads: dict[str, Upload]  # by name of the artifact
    summary: Upload
    gateway: str | None = None
    refusals: str | None = None
    pod: str = ""  # written into the claim: the pod's name, and the uid of its run


class CheckTold(Frozen):
    """For the program that runs one check (`agentbench.check/v1`)."""

    schema_: Literal["agentbench.check/v1"] = Field("agentbench.check/v1", alias="schema")
    check: str  # path of the executable
    security: str | None  # path of the security check
    repeats: int
    timeout: float  # seconds
    token: str  # that the harness answers to
    app_url: str
    harness_url: str
    database_url: str | None = None
    uploads: dict[str, Upload]  # check-1.json, ..., security.json
    gateway: str | None = None


class HarnessTold(Frozen):
    """For the harness API (`agentbench.harness/v1`)."""

    schema_: Literal["agentbench.harness/v1"] = Field("agentbench.harness/v1", alias="schema")
    stack: dict[str, Any]  # the stack's declaration
    token: str
    port: int
    app_port: int
    app_env: dict[str, str]  # the whole environment of the app's commands
    urls: dict[str, str]  # of services, by kind
