"""Reads usage and the rest of what is counted from answers of the Anthropic Messages API.

A stream gives usage twice: input and cache counts in `message_start`, with a placeholder for the
output, then final counts in `message_delta`. Each later field replaces the earlier one; nothing is
ever added.
"""

from collections.abc import Mapping
from typing import Any

from agentbench.core.usage import (
    INCONSISTENT,
    InconsistentUsage,
    Reading,
    Usage,
    count,
    section,
    text_or_none,
    text_size,
)

DELTA_TEXTS = ("text", "thinking", "partial_json")
TOKEN_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class MessagesFold:
    """Folds the events of one streamed message, in order.

    `one_hour_cache` says that the request asked for cache entries of one hour: then a count of
    cache writes that is not split by lifetime cannot be told apart.
    """

    def __init__(self, *, one_hour_cache: bool = False) -> None:
        self._one_hour = one_hour_cache
        self._usage: dict[str, Any] = {}
        self._model: str | None = None
        self._id: str | None = None
        self._final_usage = False
        self._stopped = False
        self._tools = 0
        self._bytes = 0
        self._finish: str | None = None
        self._error: str | None = None

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take one event's data."""
        match event.get("type"):
            case "message_start":
                message = section(event, "message")
                self._model = text_or_none(message.get("model")) or self._model
                self._id = text_or_none(message.get("id")) or self._id
                self._overwrite(section(message, "usage"))
            case "content_block_start":
                self._block(section(event, "content_block"))
            case "content_block_delta":
                delta = section(event, "delta")
                self._bytes += sum(text_size(delta.get(name)) for name in DELTA_TEXTS)
            case "message_delta":
                self._delta(event)
            case "message_stop":
                self._stopped = True
            case "error":
                self._error = text_or_none(section(event, "error").get("type")) or "error"

    def feed_whole(self, message: Mapping[str, Any]) -> None:
        """Take a message that was not streamed."""
        if message.get("type") == "error":
            self.feed(message)
            return
        self._model = text_or_none(message.get("model"))
        self._id = text_or_none(message.get("id"))
        self._finish = text_or_none(message.get("stop_reason"))
        self._overwrite(section(message, "usage"))
        self._final_usage = self._usage.get("output_tokens") is not None
        self._stopped = True
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, Mapping):
                self._block(block)

    @property
    def ended(self) -> bool:
        """Whether the message's closing event came."""
        return self._stopped or self._error is not None

    def reading(self) -> Reading:
        """What has been read so far."""
        complete = self._final_usage and (self._stopped or self._finish is not None)
        reason = None
        try:
            usage = self._counts(complete)
        except InconsistentUsage as error:
            usage, reason = Usage(), str(error)
        searches = section(self._usage, "server_tool_use").get("web_search_requests")
        return Reading(
            usage=usage,
            complete=complete and reason is None,
            reason=reason,
            model=self._model,
            tool_calls=self._tools,
            searches=searches if type(searches) is int and searches > 0 else 0,
            text_bytes=self._bytes,
            error=self._error,
            finish=self._finish,
            response_id=self._id,
            started=self._model is not None or bool(self._usage),
        )

    def _overwrite(self, usage: Mapping[str, Any]) -> None:
        fresh = {name: value for name, value in usage.items() if value is not None}
        if "cache_creation_input_tokens" in fresh and "cache_creation" not in fresh:
            # A later total without its split: the earlier split stays only if it still adds up.
            split = section(self._usage, "cache_creation")
            if (
                sum(v for v in split.values() if type(v) is int)
                != fresh["cache_creation_input_tokens"]
            ):
                self._usage.pop("cache_creation", None)
        self._usage.update(fresh)

    def _block(self, block: Mapping[str, Any]) -> None:
        self._tools += block.get("type") == "tool_use"
        self._bytes += text_size(block.get("text")) + text_size(block.get("thinking"))

    def _delta(self, event: Mapping[str, Any]) -> None:
        usage = section(event, "usage")
        self._overwrite(usage)
        self._final_usage = self._final_usage or usage.get("output_tokens") is not None
        self._finish = text_or_none(section(event, "delta").get("stop_reason")) or self._finish

    def _counts(self, complete: bool) -> Usage:
        source = self._usage
        extra = _other_iterations(source)
        read = count(source, "cache_read_input_tokens")
        five, hour = self._cache_writes()
        reasoning = count(section(source, "output_tokens_details"), "thinking_tokens")
        output = count(source, "output_tokens") if complete else None
        if reasoning is not None and output is not None and reasoning > output:
            raise InconsistentUsage(f"{INCONSISTENT}: thinking_tokens exceed output_tokens")
        return Usage(
            input_uncached=_plus(count(source, "input_tokens"), extra["input_tokens"]),
            cache_read=_plus(read, extra["cache_read_input_tokens"]),
            cache_write_5m=_plus(five, extra["cache_creation_input_tokens"]),
            cache_write_1h=hour,
            output=_plus(output, extra["output_tokens"]),
            reasoning=reasoning if complete else None,
        )

    def _cache_writes(self) -> tuple[int | None, int | None]:
        total = count(self._usage, "cache_creation_input_tokens")
        split = section(self._usage, "cache_creation")
        five = count(split, "ephemeral_5m_input_tokens")
        hour = count(split, "ephemeral_1h_input_tokens")
        if five is None and hour is None:
            if total and self._one_hour:
                return None, None
            return total, None if total is None else 0
        five, hour = five or 0, hour or 0
        if total is not None and five + hour != total:
            raise InconsistentUsage(
                f"{INCONSISTENT}: cache writes of {five} + {hour} tokens are not {total}"
            )
        return five, hour


def _plus(value: int | None, extra: int) -> int | None:
    return None if value is None else value + extra


def _other_iterations(source: Mapping[str, Any]) -> dict[str, int]:
    """Tokens of the provider's own compaction passes, which the top-level counts leave out."""
    extra = dict.fromkeys(TOKEN_FIELDS, 0)
    iterations = source.get("iterations")
    for step in iterations if isinstance(iterations, list) else ():
        kind = step.get("type") if isinstance(step, Mapping) else None
        if kind == "message":
            continue
        if kind != "compaction":
            raise InconsistentUsage(f"{INCONSISTENT}: iterations hold a pass of kind {kind!r:.40}")
        for name in TOKEN_FIELDS:
            extra[name] += count(step, name) or 0
    return extra
