"""Puts the parts of a run together from its configuration."""

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agentbench.agents.port import Adapter, Launch
from agentbench.core.calls import Provider
from agentbench.core.pricing import PriceList
from agentbench.pod.process import AgentProcess, Sandbox
from agentbench.pod.warden.config import Upstream, WardenConfig
from agentbench.pod.warden.control_socket import ControlSocketProcess
from agentbench.pod.warden.folder import FolderProcess
from agentbench.pod.warden.hooks import HookServer
from agentbench.pod.warden.ledger import Ledger
from agentbench.pod.warden.meter import Meter
from agentbench.pod.warden.needles import SHORTEST
from agentbench.pod.warden.proxy import Gateway, ModelProxy
from agentbench.pod.warden.proxy import Upstream as ProxyUpstream
from agentbench.pod.warden.redact import Redactor
from agentbench.pod.warden.telemetry import Telemetry, TelemetrySettings

DUMMY_KEY = "dummy"
FOLDER = "folder:"


def launch_of(config: WardenConfig, sandbox: Sandbox) -> Launch:
    """What the adapter is told."""
    place = config.place
    env = {
        "PATH": place.path,
        "HOME": place.home,
        "TMPDIR": place.tmp,
        "LANG": "C.UTF-8",
        **place.env,
    }
    return Launch(
        prompt=config.prompt,
        model=config.agent.model,
        settings=config.agent.settings,
        workspace=place.workspace,
        home=place.home,
        tmp=place.tmp,
        binary=place.binary,
        model_url=place.model_url,
        hook_url=place.hook_url,
        api_key=DUMMY_KEY,
        env=env,
        private_root=sandbox.private_root,
    )


def process_of(config: WardenConfig) -> AgentProcess:
    """The way to the agent's process: a sandbox's control socket, or a folder shared with it."""
    folder = config.control.removeprefix(FOLDER)
    if folder != config.control:
        return FolderProcess(Path(folder))
    return ControlSocketProcess(config.control, config.place.uid, config.place.gid)


def telemetry_of(config: WardenConfig) -> Telemetry | None:
    """Where calls are exported to, if the configuration says so.

    Raises:
        TelemetryMissing: the extra `otel` is not installed.
    """
    if config.telemetry is None:
        return None
    settings = TelemetrySettings(
        endpoint=config.telemetry.endpoint,
        run=config.run,
        agent=config.agent.name,
        headers=config.telemetry.headers,
    )
    return Telemetry(settings)


def meter_of(
    config: WardenConfig, adapter: Adapter, ledger: Ledger, telemetry: Telemetry | None
) -> Meter:
    """The meter with this run's prices and caps.

    Raises:
        PriceListError: the price list cannot be used.
    """
    return Meter(
        prices=PriceList.parse(config.prices, "prices"),
        model=config.agent.model or None,
        cost_cap=Decimal(config.caps.cost_usd),
        tool_cap=config.caps.tool_calls,
        tool_count=adapter.tool_count,
        ledger=ledger,
        observers=() if telemetry is None else (telemetry,),
    )


def proxy_of(config: WardenConfig, meter: Meter) -> ModelProxy:
    """The model proxy with this run's upstreams."""
    given = {
        Provider.ANTHROPIC: config.upstreams.anthropic,
        Provider.OPENAI: config.upstreams.openai,
    }
    upstreams = {name: _upstream(one) for name, one in given.items() if one is not None}
    proxy = config.upstreams.proxy
    gateway = None if proxy is None else Gateway.parse(proxy)
    return ModelProxy(meter, upstreams, gateway=gateway)


def redactor_of(config: WardenConfig) -> Redactor:
    """Knows the run's secrets, and every credential that its configuration holds."""
    held = {f"{name}-key": upstream.key for name, upstream in _named(config).items()}
    held["gateway-credential"] = unquote(urlsplit(config.upstreams.proxy or "").password or "")
    if config.telemetry is not None:
        held |= {f"telemetry-{name}": text for name, text in config.telemetry.headers.items()}
    long_enough = {name: value for name, value in held.items() if len(value) >= SHORTEST}
    return Redactor({**long_enough, **config.secrets})


async def listen(config: WardenConfig, proxy: ModelProxy, hooks: HookServer) -> None:
    """Open both servers where the configuration says."""
    where = config.listen
    if where.folder is None:
        await proxy.listen_tcp(where.host, where.model_port)
        await hooks.listen_tcp(where.host, where.hook_port)
        return
    folder = Path(where.folder)
    for name in ("model.sock", "hook.sock"):
        (folder / name).unlink(missing_ok=True)
    await proxy.listen_unix(os.fspath(folder / "model.sock"))
    await hooks.listen_unix(os.fspath(folder / "hook.sock"))


def _named(config: WardenConfig) -> Mapping[str, Upstream]:
    given = {"anthropic": config.upstreams.anthropic, "openai": config.upstreams.openai}
    return {name: one for name, one in given.items() if one is not None}


def _upstream(one: Upstream) -> ProxyUpstream:
    key = one.key
    return ProxyUpstream(base_url=one.url, key=lambda: key, socket=one.socket, direct=one.direct)
