"""Reads usage and the rest of what is counted from answers of OpenAI's two APIs.

OpenAI's input counts include what was read from the cache, and its output counts include
reasoning. In a Responses stream only the closing event (`response.completed`, or `.incomplete`
or `.failed`) carries usage; in a Chat Completions stream the last usage that is not null counts.
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

# Items of a response that the agent executes; the provider runs the others itself.
AGENT_ITEMS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "computer_call",
    }
)
CLOSING = frozenset({"response.completed", "response.incomplete", "response.failed"})


def read_counts(usage: Mapping[str, Any], names: tuple[str, str, str, str]) -> Usage:
    """Canonical counts of a usage object; `names` are its input, output and their details.

    Raises:
        InconsistentUsage: a count is negative or no whole number, or a part exceeds its whole.
    """
    whole_in, whole_out, details_in, details_out = names
    given, output = count(usage, whole_in), count(usage, whole_out)
    cached = count(section(usage, details_in), "cached_tokens")
    written = count(section(usage, details_in), "cache_write_tokens")
    reasoning = count(section(usage, details_out), "reasoning_tokens")
    uncached = None if given is None else given - (cached or 0) - (written or 0)
    if uncached is not None and uncached < 0:
        raise InconsistentUsage(
            f"{INCONSISTENT}: {given} input tokens cannot hold {cached or 0} read from the cache "
            f"and {written or 0} written"
        )
    if output is not None and reasoning is not None and reasoning > output:
        raise InconsistentUsage(
            f"{INCONSISTENT}: {output} output tokens cannot hold {reasoning} of reasoning"
        )
    return Usage(
        input_uncached=uncached,
        cache_read=cached,
        cache_write_5m=written,
        cache_write_1h=None if written is None else 0,
        output=output,
        reasoning=reasoning,
    )


class ResponsesFold:
    """Folds the events of one streamed response, in order."""

    def __init__(self) -> None:
        self._model: str | None = None
        self._id: str | None = None
        self._usage: Mapping[str, Any] | None = None
        self._closed: str | None = None
        self._error: str | None = None
        self._delta_bytes = 0
        self._item_bytes = 0
        self._tools = 0
        self._searches = 0
        self._items = 0

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take one event's data."""
        kind = text_or_none(event.get("type"))
        if kind == "response.output_item.done":
            self._item(section(event, "item"))
        elif kind == "error":
            nested = section(event, "error")
            self._error = text_or_none(nested.get("code") or nested.get("type"))
            self._error = self._error or text_or_none(event.get("code")) or "error"
        elif kind in CLOSING:
            self._close(section(event, "response"))
        elif kind == "response.created":
            self._name(section(event, "response"))
        else:
            self._delta_bytes += text_size(event.get("delta"))

    def feed_whole(self, response: Mapping[str, Any]) -> None:
        """Take a response that was not streamed."""
        self._close(response)

    @property
    def ended(self) -> bool:
        """Whether the response's closing event came."""
        return self._closed is not None or self._error is not None

    def reading(self) -> Reading:
        """What has been read so far."""
        usage, reason = Usage(), None
        if self._usage is not None:
            try:
                usage = read_counts(
                    self._usage,
                    (
                        "input_tokens",
                        "output_tokens",
                        "input_tokens_details",
                        "output_tokens_details",
                    ),
                )
            except InconsistentUsage as error:
                reason = str(error)
        size = max(self._delta_bytes, self._item_bytes)
        return Reading(
            usage=usage,
            complete=self._usage is not None and reason is None,
            reason=reason,
            model=self._model,
            tool_calls=self._tools,
            searches=self._searches,
            text_bytes=size,
            error=self._error,
            finish=self._closed,
            response_id=self._id,
            started=size > 0 or self._items > 0 or self._usage is not None,
        )

    def _name(self, response: Mapping[str, Any]) -> None:
        self._model = text_or_none(response.get("model")) or self._model
        self._id = text_or_none(response.get("id")) or self._id

    def _close(self, response: Mapping[str, Any]) -> None:
        self._name(response)
        self._closed = text_or_none(response.get("status"))
        usage = response.get("usage")
        self._usage = usage if isinstance(usage, Mapping) else None
        error = section(response, "error")
        if error:
            self._error = text_or_none(error.get("code") or error.get("type")) or "error"
        output = response.get("output")
        items = (
            [item for item in output if isinstance(item, Mapping)]
            if (isinstance(output, list))
            else []
        )
        # The closing event repeats the items: they count only if they did not come one by one.
        if len(items) > self._items:
            self._items = self._tools = self._searches = self._item_bytes = 0
            for item in items:
                self._item(item)

    def _item(self, item: Mapping[str, Any]) -> None:
        self._items += 1
        kind = text_or_none(item.get("type"))
        self._tools += kind in AGENT_ITEMS
        action = section(item, "action").get("type", "search")
        self._searches += kind == "web_search_call" and action == "search"
        self._item_bytes += text_size(item.get("arguments")) + text_size(item.get("input"))
        content = item.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, Mapping):
                self._item_bytes += text_size(part.get("text"))


class ChatFold:
    """Folds the chunks of one streamed chat completion, in order."""

    def __init__(self) -> None:
        self._model: str | None = None
        self._id: str | None = None
        self._usage: Mapping[str, Any] | None = None
        self._finish: str | None = None
        self._error: str | None = None
        self._tools: set[tuple[int, int]] = set()
        self._bytes = 0

    def feed(self, chunk: Mapping[str, Any]) -> None:
        """Take one chunk."""
        self._take(chunk, "delta")

    def feed_whole(self, completion: Mapping[str, Any]) -> None:
        """Take a completion that was not streamed."""
        self._take(completion, "message")

    @property
    def ended(self) -> bool:
        """A chat stream has no closing event of its own: `[DONE]` closes it."""
        return False

    def reading(self) -> Reading:
        """What has been read so far."""
        usage, reason = Usage(), None
        ended = self._usage is not None and self._finish is not None
        if self._usage is not None and ended:
            try:
                usage = read_counts(
                    self._usage,
                    (
                        "prompt_tokens",
                        "completion_tokens",
                        "prompt_tokens_details",
                        "completion_tokens_details",
                    ),
                )
            except InconsistentUsage as error:
                reason = str(error)
        return Reading(
            usage=usage,
            complete=ended and reason is None,
            reason=reason,
            model=self._model,
            tool_calls=len(self._tools),
            text_bytes=self._bytes,
            error=self._error,
            finish=self._finish,
            response_id=self._id,
            started=self._bytes > 0 or bool(self._tools) or self._usage is not None,
        )

    def _take(self, chunk: Mapping[str, Any], part: str) -> None:
        self._model = text_or_none(chunk.get("model")) or self._model
        self._id = text_or_none(chunk.get("id")) or self._id
        error = section(chunk, "error")
        if error:
            self._error = text_or_none(error.get("code") or error.get("type")) or "error"
        if isinstance(usage := chunk.get("usage"), Mapping):
            self._usage = usage
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping):
                self._finish = text_or_none(choice.get("finish_reason")) or self._finish
                self._message(_index(choice.get("index"), 0), section(choice, part))

    def _message(self, choice: int, message: Mapping[str, Any]) -> None:
        for name in ("content", "reasoning_content", "refusal"):
            self._bytes += text_size(message.get(name))
        calls = message.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, Mapping):
                self._tools.add((choice, _index(call.get("index"), position)))
                self._bytes += text_size(section(call, "function").get("arguments"))


def _index(value: Any, default: int) -> int:
    return value if isinstance(value, int) else default
