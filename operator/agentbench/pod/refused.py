"""What the gateway refused to this attempt, asked of the gateway while the agent runs and after.

A gateway that is replaced forgets; what it told before stays. Each gateway has a name, and of each
its newest answer counts.
"""

import asyncio
import base64
import json
import logging
import urllib.error
import urllib.request
from urllib.parse import unquote, urlsplit

from agentbench.core.credentials import GATEWAY_HOST
from agentbench.core.refusals import lines_of

PAUSE = 20.0  # seconds between two questions
TRIES, TIMEOUT = 7, 10.0
"""The last question is put again with growing pauses, 21 seconds in all: a gateway may start."""
MAX_ANSWER = 1 << 20

log = logging.getLogger(__name__)


class Refused:
    """Asks the gateway by its own name; `address` has the credential of class `log`."""

    def __init__(self, address: str | None) -> None:
        self._answers: dict[str, dict[str, int]] = {}
        self._problem = ""
        self._request: urllib.request.Request | None = None
        if address is None:
            return
        parts = urlsplit(address)
        credential = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        basic = base64.b64encode(credential.encode()).decode()
        host = GATEWAY_HOST.removesuffix(":80")
        self._request = urllib.request.Request(
            f"http://{host}/refusals", headers={"Authorization": f"Basic {basic}"}
        )
        handler = urllib.request.ProxyHandler({"http": address})
        self._opener = urllib.request.build_opener(handler)

    @property
    def lines(self) -> tuple[str, ...]:
        """What was refused, for the row."""
        return lines_of(self._answers.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of it: that the last question was not answered."""
        return (self._problem,) if self._problem else ()

    async def watch(self) -> None:
        """Ask again and again, until cancelled."""
        while True:
            await asyncio.sleep(PAUSE)
            await asyncio.to_thread(self._ask)

    async def finish(self) -> None:
        """Ask for the last time."""
        for number in range(TRIES):
            if await asyncio.to_thread(self._ask):
                return
            await asyncio.sleep(number)

    def _ask(self) -> bool:
        """One question; whether it was answered."""
        if self._request is None:
            return True
        try:
            with self._opener.open(self._request, timeout=TIMEOUT) as answer:
                told = json.loads(answer.read(MAX_ANSWER))
            self._answers[str(told["gateway"])] = {
                str(what): int(count) for what, count in told["refused"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self._problem = f"refused addresses may be missing: the gateway did not say ({error})"
            log.warning("%s", self._problem)
            return False
        self._problem = ""
        return True
