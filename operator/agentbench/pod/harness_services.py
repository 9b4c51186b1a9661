"""Services beside the app in a grader pod: emptied by their own means."""

import asyncio
import urllib.request
from collections.abc import Mapping

from agentbench.api.factors import Stack
from agentbench.pod.surroundings import ServiceDied

EMPTY_DATABASE = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"
TIMEOUT = 30.0


class PodServices:
    """The services that a stack declares; see `ServicesPort`."""

    def __init__(self, stack: Stack, urls: Mapping[str, str]) -> None:
        self._kinds = [service.kind for service in stack.services]
        self._urls = urls

    async def reset(self) -> None:
        """Empty those that keep data; ServiceDied if one does not answer.

        A mock model server keeps what it was asked, here as on one machine.
        """
        for kind in self._kinds:
            if kind == "postgres":
                await self._run("psql", "-q", "-c", EMPTY_DATABASE, self._urls["postgres"])
            elif kind == "redis":
                await self._redis()

    async def model_calls(self) -> bytes | None:
        """What the mock model server was asked, as JSON; None if there is none."""
        if "mock-model" not in self._kinds:
            return None
        return await asyncio.to_thread(self._ask, "/__calls")

    async def _run(self, *words: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        try:
            async with asyncio.timeout(TIMEOUT):
                _, said = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise ServiceDied(f"{words[0]} did not end within {TIMEOUT:.0f} s") from None
        if process.returncode:
            raise ServiceDied(f"{words[0]}: {said.decode('utf-8', 'replace').strip()}")

    async def _redis(self) -> None:
        try:
            async with asyncio.timeout(TIMEOUT):
                reader, writer = await asyncio.open_connection("127.0.0.1", 6379)
                writer.write(b"FLUSHALL\r\n")
                answer = await reader.readline()
                writer.close()
        except (OSError, TimeoutError) as error:
            raise ServiceDied(f"service redis does not answer: {error}") from error
        if not answer.startswith(b"+OK"):
            raise ServiceDied(f"service redis refused FLUSHALL: {answer!r}")

    def _ask(self, path: str) -> bytes:
        request = urllib.request.Request(self._urls["mock-model"] + path)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=TIMEOUT) as answer:
                return bytes(answer.read())
        except OSError as error:
            raise ServiceDied(f"service mock-model does not answer: {error}") from error
