"""The usage ledger: one JSON line for each model call and for each refusal, written at once.

Nothing is kept in memory. An agent that makes the proxy refuse it over and over cannot fill the
disk: after `MAX_REFUSALS` lines refusals are only counted.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from agentbench.core.calls import FinishedCall
from agentbench.core.pricing import dollars

LEDGER_SCHEMA = "agentbench.usage/v1"
MAX_REFUSALS = 10_000


class Ledger:
    """Writes `usage.jsonl`, a line at a time; without a path it writes nothing."""

    def __init__(self, path: Path | None = None) -> None:
        self._file: BinaryIO | None = None if path is None else path.open("ab", buffering=0)
        self._refusals = 0
        self.lost: str | None = None

    def call(self, entry: Mapping[str, Any]) -> None:
        """Write one call."""
        self._write({"schema": LEDGER_SCHEMA, "kind": "call", **entry})

    def refusal(self, entry: Mapping[str, Any]) -> None:
        """Write one refusal, while there are not too many."""
        self._refusals += 1
        if self._refusals <= MAX_REFUSALS:
            self._write({"schema": LEDGER_SCHEMA, "kind": "refusal", **entry})

    def close(self) -> None:
        """End the ledger, saying how many refusals were not written."""
        if self._refusals > MAX_REFUSALS:
            suppressed = self._refusals - MAX_REFUSALS
            self._write({"schema": LEDGER_SCHEMA, "kind": "suppressed", "refusals": suppressed})
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, entry: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            # Counting goes on without the file; the summary's notes say that lines are missing.
            self.lost = f"usage ledger: {error.strerror}"


def call_entry(call: FinishedCall, spent: Decimal) -> dict[str, object]:
    """A call as its line in the ledger. `at` and `seconds` are of the monotonic clock."""
    start, end, reading = call.start, call.end, call.end.reading
    return {
        "number": call.number,
        "at": call.at,
        "api": start.api,
        "path": start.path[:200],
        "model": start.model[:200],
        "returnedModel": reading.model,
        "responseId": reading.response_id,
        "agentId": start.agent_id,
        "streamed": start.streamed,
        "requestBytes": start.request_bytes,
        "status": end.status,
        "failure": end.failure,
        "error": reading.error,
        "clientGone": end.client_gone,
        "firstByteSeconds": end.first_byte,
        "seconds": end.duration,
        **call.charge.as_json(),
        "toolCalls": reading.tool_calls,
        "searches": reading.searches,
        "finish": reading.finish,
        "spentUsd": dollars(spent),
    }
