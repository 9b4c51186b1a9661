"""Carries one call to its provider and the answer back, reading along.

The answer is forwarded chunk by chunk as it comes. When the client goes away, the rest is still
read, so that the call's usage is counted.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace

import aiohttp
from aiohttp import web

from agentbench.core.answers import AnswerReader
from agentbench.core.calls import CallEnd, Failure
from agentbench.core.usage import Reading
from agentbench.pod.warden.courier import BROKEN, ProxyLimits
from agentbench.pod.warden.decoding import CannotDecode, Decode, decoder
from agentbench.pod.warden.headers import client_headers


async def whole_response(answer: aiohttp.ClientResponse, key: str) -> web.Response:
    """An answer that is not metered, as the client gets it; the key never shows in it.

    Raises:
        aiohttp.ClientError: the answer broke off; or an OSError or a TimeoutError.
    """
    body = await answer.read()
    if key:
        body = body.replace(key.encode(), b"[key]")
    headers = client_headers(answer.headers, key)
    headers.pop("content-length", None)
    return web.Response(status=answer.status, reason=answer.reason, headers=headers, body=body)


class Relay:
    """One metered answer on its way to the client.

    `settle` is called once, with the call as it ended. That is before the client can know that
    the answer is whole, so that its next call already finds this one counted.
    """

    def __init__(
        self,
        request: web.BaseRequest,
        answer: aiohttp.ClientResponse,
        reader: AnswerReader,
        limits: ProxyLimits,
        settle: Callable[[CallEnd], None],
    ) -> None:
        self._request = request
        self._answer = answer
        self._reader = reader
        self._limits = limits
        self._settle = settle
        self._began = time.monotonic()
        self._settled = False
        self._decode: Decode | None = None
        self._unreadable: str | None = None
        self._client_gone = False
        self._first_byte: float | None = None
        self._held = b""

    async def carry(self, key: str) -> web.StreamResponse:
        """Forward the whole answer; the response is finished, or its connection closed."""
        answer = self._answer
        response = web.StreamResponse(
            status=answer.status, reason=answer.reason, headers=client_headers(answer.headers, key)
        )
        try:
            self._decode = decoder(answer.headers.get("content-encoding", ""))
        except CannotDecode as error:
            self._unreadable = str(error)
        broken = False
        try:
            await self._to_client(response.prepare(self._request))
            await self._pump(response)
        except BROKEN:
            broken = True
        except asyncio.CancelledError:
            self._end(Failure.ABANDONED)
            raise
        self._end(Failure.CUT if broken else None)
        if self._held:
            await self._to_client(response.write(self._held))
        if broken:
            # What came is flushed, then the connection ends without the answer's proper end: the
            # client sees what it would have seen of the provider.
            self._close_client()
        else:
            await self._to_client(response.write_eof())
        return response

    async def _pump(self, response: web.StreamResponse) -> None:
        content = self._answer.content
        drain_until: float | None = None
        while True:
            if self._client_gone and drain_until is None:
                drain_until = asyncio.get_running_loop().time() + self._limits.drain
            async with asyncio.timeout_at(drain_until):
                chunk = await content.readany()
            if not chunk:
                return
            if self._first_byte is None:
                self._first_byte = self._elapsed()
            self._read(chunk)
            if self._reader.streamed:
                if self._reader.ended:
                    self._end(None)
            else:
                # The last piece waits until the answer is counted.
                self._held, chunk = chunk, self._held
            if chunk:
                await self._to_client(response.write(chunk))

    async def _to_client(self, sending: Coroutine[object, object, object]) -> None:
        if self._client_gone:
            sending.close()
            return
        try:
            async with asyncio.timeout(self._limits.client_stall):
                await sending
        except (ConnectionError, TimeoutError):
            self._client_gone = True
            self._close_client()

    def _read(self, chunk: bytes) -> None:
        if self._decode is None:
            return
        try:
            self._reader.feed(self._decode(chunk))
        except CannotDecode as error:
            self._decode, self._unreadable = None, str(error)

    def _end(self, failure: Failure | None) -> None:
        if self._settled:
            return
        self._settled = True
        # A document that broke off cannot be read; a stream can, as far as it came.
        whole = failure is None or self._reader.streamed
        reading = self._reader.finish() if whole else self._reader.reading()
        if self._unreadable is not None and not reading.complete:
            reading = replace(reading, reason=self._unreadable)
        if failure is None or (failure is Failure.CUT and self._client_gone):
            failure = self._judge(reading)
        self._settle(
            CallEnd(
                status=self._answer.status,
                reading=reading,
                failure=failure,
                client_gone=self._client_gone,
                first_byte=self._first_byte,
                duration=self._elapsed(),
            )
        )

    def _judge(self, reading: Reading) -> Failure | None:
        if reading.error is not None:
            return Failure.ERROR_EVENT
        if not reading.complete and reading.finish is None and self._unreadable is None:
            return Failure.ABANDONED if self._client_gone else Failure.CUT
        return None

    def _elapsed(self) -> float:
        return round(time.monotonic() - self._began, 6)

    def _close_client(self) -> None:
        transport = self._request.transport
        if transport is not None:
            transport.close()
