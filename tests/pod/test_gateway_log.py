"""The gateway's log is told to each warden, by the credential of the attempt alone."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.ports import free_port

from agentbench.core.credentials import GATEWAY_HOST, Pass, proxy_url
from agentbench.pod.gateway_log import GatewayLog, serve
from agentbench.pod.refused import Refused

KEY = b"0123456789abcdef0123456789abcdef"
NOW = 4_000_000_000
LINE = "1796075853.079 10.0.0.7 pod-a agent GET 403 TCP_DENIED http://x.test/\n"


class Gateway:
    """The log's container; its address takes requests as Squid would hand them on."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.lines, self.port = free_port(), port or free_port()
        self.log = GatewayLog(KEY, folder)
        self._task = asyncio.create_task(serve(self.log, self.lines, self.port))

    async def write(self, line: str) -> None:
        """One line, as from Squid."""
        for _ in range(100):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.lines)
                break
            except OSError:
                await asyncio.sleep(0.02)
        writer.write(line.encode())
        await writer.drain()
        writer.close()
        await asyncio.sleep(0.05)

    def address(self, caller: str = "pod-a", kind: str = "log", key: bytes = KEY) -> str:
        """The gateway with a credential."""
        entry = Pass(caller=caller, kind=kind, hosts=(GATEWAY_HOST,), expires=NOW)
        return proxy_url(f"127.0.0.1:{self.port}", entry, key)

    async def stop(self) -> None:
        """End it, as its container is."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway with a refusal in its log."""
    found = Gateway(tmp_path / "kept")
    await found.write(LINE)
    yield found
    await found.stop()


async def asked(address: str) -> Refused:
    refused = Refused(address)
    await refused.finish()
    return refused


async def test_a_warden_is_told_what_was_refused_to_its_attempt(gateway: Gateway) -> None:
    refused = await asked(gateway.address())
    assert (refused.lines, refused.notes) == (("agent: GET x.test:80 (403)",), ())


@pytest.mark.parametrize(
    ("caller", "kind", "key"),
    [("pod-a", "agent", KEY), ("pod-a", "store", KEY), ("pod-a", "log", b"x" * 32)],
)
async def test_no_other_credential_is_answered(
    gateway: Gateway, caller: str, kind: str, key: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench.pod.refused.TRIES", 1)
    refused = await asked(gateway.address(caller, kind, key))
    assert refused.lines == ()
    assert "the gateway did not say" in refused.notes[0]


async def test_another_attempt_is_told_its_own(gateway: Gateway) -> None:
    refused = await asked(gateway.address("pod-b"))
    assert (refused.lines, refused.notes) == ((), ())


async def test_a_restart_of_the_container_loses_nothing(gateway: Gateway, tmp_path: Path) -> None:
    await gateway.stop()
    again = Gateway(tmp_path / "kept")
    await again.write(LINE)
    assert again.log.name == gateway.log.name
    assert (await asked(again.address())).lines == ("agent: GET x.test:80 (403), 2 times",)
    await again.stop()


async def test_what_a_gateway_told_before_it_was_replaced_stays(
    gateway: Gateway, tmp_path: Path
) -> None:
    refused = await asked(gateway.address())
    await gateway.stop()
    another = Gateway(tmp_path / "another", gateway.port)
    await another.write("a line that is none\n")
    await refused.finish()
    assert (refused.lines, refused.notes) == (("agent: GET x.test:80 (403)",), ())
    assert another.log.name != gateway.log.name
    await another.stop()
