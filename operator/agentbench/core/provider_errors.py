"""Errors in the providers' own shapes, so that an agent treats ours as it treats theirs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentbench.core.calls import Provider


class Fault(StrEnum):
    """What is wrong with a call, as the proxy tells the agent."""

    BAD_REQUEST = "bad-request"
    UNKNOWN_PATH = "unknown-path"
    WRONG_METHOD = "wrong-method"
    UNKNOWN_MODEL = "unknown-model"
    TOO_LARGE = "too-large"
    BUDGET = "budget"
    UNREACHABLE = "unreachable"
    SILENT = "silent"
    OVERLOADED = "overloaded"


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An HTTP answer: status, headers, JSON body."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


# Status and error type for Anthropic; status, type and code for OpenAI.
ANTHROPIC: Mapping[Fault, tuple[int, str]] = {
    Fault.BAD_REQUEST: (400, "invalid_request_error"),
    Fault.UNKNOWN_PATH: (404, "not_found_error"),
    Fault.WRONG_METHOD: (405, "invalid_request_error"),
    Fault.UNKNOWN_MODEL: (404, "not_found_error"),
    Fault.TOO_LARGE: (413, "request_too_large"),
    Fault.BUDGET: (402, "billing_error"),
    Fault.UNREACHABLE: (502, "api_error"),
    Fault.SILENT: (504, "timeout_error"),
    Fault.OVERLOADED: (529, "overloaded_error"),
}
OPENAI: Mapping[Fault, tuple[int, str, str | None]] = {
    Fault.BAD_REQUEST: (400, "invalid_request_error", None),
    Fault.UNKNOWN_PATH: (404, "invalid_request_error", "unknown_url"),
    Fault.WRONG_METHOD: (405, "invalid_request_error", "method_not_supported"),
    Fault.UNKNOWN_MODEL: (404, "invalid_request_error", "model_not_found"),
    Fault.TOO_LARGE: (413, "invalid_request_error", "request_too_large"),
    Fault.BUDGET: (429, "insufficient_quota", "insufficient_quota"),
    Fault.UNREACHABLE: (502, "server_error", "server_error"),
    Fault.SILENT: (504, "server_error", "timeout"),
    Fault.OVERLOADED: (503, "server_error", "server_is_overloaded"),
}


def error_reply(provider: Provider, fault: Fault, message: str) -> ErrorReply:
    """The answer that a provider would give for this fault.

    Faults that will not go away by trying again carry `x-should-retry: false`.
    """
    headers = {"content-type": "application/json"}
    if fault not in (Fault.UNREACHABLE, Fault.SILENT, Fault.OVERLOADED):
        headers["x-should-retry"] = "false"
    body: dict[str, object]
    if provider is Provider.ANTHROPIC:
        status, kind = ANTHROPIC[fault]
        body = {"type": "error", "error": {"type": kind, "message": message}}
    else:
        status, kind, code = OPENAI[fault]
        body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return ErrorReply(status, json.dumps(body).encode(), headers)
