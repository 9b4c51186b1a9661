"""What the warden is told of its run: one line of JSON on its standard input.

Standard input stays open for as long as the run may go on: its end means that the engine is gone,
and ends the agent and the warden. SIGTERM ends the run in order: agent stopped, record written.
"""

from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from agentbench.core.summary import Frozen
from agentbench.pod.warden.needles import SHORTEST


class ConfigError(ValueError):
    """The warden's configuration is not usable; the message names field, value and cure."""


class Limits(Frozen):
    """The caps of the run. Wall time in seconds, cost in US dollars as a decimal string."""

    wall_seconds: float = Field(2700, gt=0)
    cost_usd: str = "5"
    tool_calls: int = Field(400, ge=0)
    interventions: int = Field(3, ge=0)

    @field_validator("cost_usd")
    @classmethod
    def _decimal(cls, value: str) -> str:
        try:
            amount = Decimal(value)
        except InvalidOperation:
            raise ValueError(f"{value!r} is not a decimal number of US dollars") from None
        if not amount.is_finite() or amount < 0:
            raise ValueError(f"{value!r} must be a number of US dollars, 0 or more")
        return value


class Upstream(Frozen):
    """One provider's API: where calls really go, and the key that only the warden holds.

    With `socket` they go to that Unix socket, and with `direct` not by the proxy on the way.
    """

    url: str  # scheme, host and port, and a path in front of /v1 if there is one
    key: str = ""
    socket: str | None = None
    direct: bool = False


class Upstreams(Frozen):
    """The providers that this run may call."""

    anthropic: Upstream | None = None
    openai: Upstream | None = None
    proxy: str | None = None  # an HTTP proxy on the way to both (the cluster's gateway)


class Listen(Frozen):
    """Where the warden's two servers listen: Unix sockets in `folder`, or ports of `host`.

    In `folder` they are `model.sock` (the model proxy) and `hook.sock` (the tool-call hook).
    """

    folder: str | None = None
    host: str = "127.0.0.1"
    model_port: int = 8787
    hook_port: int = 8799


class AgentPlace(Frozen):
    """Where the agent lives, in the terms of its own sandbox."""

    workspace: str = "/workspace"
    home: str = "/home/agent"
    tmp: str = "/home/agent/tmp"
    binary: str = ""  # empty: the adapter's own command name, looked for in `path`
    path: str = "/usr/local/bin:/usr/bin:/bin"  # its PATH
    env: dict[str, str] = Field(default_factory=dict)  # the stack's own variables
    uid: int = 1000
    gid: int = 1000
    model_url: str = "http://127.0.0.1:8787"
    hook_url: str = "http://127.0.0.1:8799/pre"


class AgentChoice(Frozen):
    """Which agent runs, and on what."""

    adapter: str  # its kind: claude-code, codex, opencode, command, scripted, oracle, nop
    name: str  # the protocol's id of it, for the trace
    version: str = ""
    model: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)


class Exporter(Frozen):
    """Where OpenTelemetry data goes; none of it leaves without an endpoint."""

    endpoint: str
    headers: dict[str, str] = Field(default_factory=dict)


class WardenConfig(Frozen):
    """Everything that one run of the warden depends on (`agentbench.warden/v1`)."""

    schema_: Literal["agentbench.warden/v1"] = Field("agentbench.warden/v1", alias="schema")
    run: str
    attempt: int = Field(1, ge=1)
    agent: AgentChoice
    place: AgentPlace = AgentPlace()
    prompt: str
    reply: str = "Use your best judgement."
    caps: Limits = Limits()
    prices: str  # the text of the price list
    upstreams: Upstreams = Upstreams()
    listen: Listen
    control: str  # the control socket of the agent's sandbox, or folder:PATH shared with it
    output: str  # the folder for the record; made if it is not there
    originals: str | None = None  # a private folder for what redaction changed; None: not kept
    secrets: dict[str, str] = Field(default_factory=dict)  # name to value, never to be recorded
    telemetry: Exporter | None = None

    @model_validator(mode="after")
    def _named_secrets_are_long_enough(self) -> "WardenConfig":
        for name, value in self.secrets.items():
            if len(value) < SHORTEST:
                raise ValueError(
                    f"secrets.{name} has fewer than {SHORTEST} characters: "
                    "ordinary text would match it"
                )
        return self


def read_config(line: bytes) -> WardenConfig:
    """Read the configuration; ConfigError names each field that is wrong."""
    try:
        return WardenConfig.model_validate_json(line)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'config'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise ConfigError(f"warden configuration on standard input: {faults}") from None
