"""Every adapter by the name that a protocol selects it by."""

from collections.abc import Mapping

from agentbench.agents.claude_code import ClaudeCode
from agentbench.agents.codex import Codex
from agentbench.agents.command import Command
from agentbench.agents.opencode import Opencode
from agentbench.agents.port import Adapter
from agentbench.agents.scripted import NopAdapter, OracleAdapter, ScriptedAdapter
from agentbench.agents.settings import SettingsError

ADAPTERS: Mapping[str, Adapter] = {
    adapter.kind: adapter
    for adapter in (
        ClaudeCode(),
        Codex(),
        Opencode(),
        Command(),
        ScriptedAdapter(),
        OracleAdapter(),
        NopAdapter(),
    )
}


def adapter_of(kind: str) -> Adapter:
    """The adapter of that kind; SettingsError names those that there are."""
    try:
        return ADAPTERS[kind]
    except KeyError:
        known = ", ".join(sorted(ADAPTERS))
        raise SettingsError(f"there is no adapter {kind!r}: use one of {known}") from None
