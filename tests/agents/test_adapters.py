"""What every adapter must do, and what each must put on its command line."""

import json
import tomllib

import pytest
from tests.fakes.launch import SETTINGS, launch

from agentbench.agents.port import ToolCount
from agentbench.agents.registry import ADAPTERS, adapter_of
from agentbench.agents.settings import SettingsError
from agentbench.core.summary import Ending


@pytest.mark.parametrize("kind", ADAPTERS)
def test_every_adapter_hands_its_agent_the_stacks_variables_and_no_key(kind: str) -> None:
    first = adapter_of(kind).start(launch(kind))
    again = adapter_of(kind).resume(launch(kind), "session-1", "Use your best judgement.")
    for invocation in (first, again):
        assert invocation.cwd == "/workspace"
        assert invocation.env["DATABASE_URL"] == "postgres://db"
        assert all(not path.startswith("/") for path in invocation.files)
        assert all(path.startswith("/etc/") for path in invocation.root_files)
    assert "Use your best judgement." in again.argv


@pytest.mark.parametrize("kind", ADAPTERS)
def test_every_adapter_names_an_unknown_setting(kind: str) -> None:
    settings = {**SETTINGS.get(kind, {}), "colour": "blue"}
    with pytest.raises(SettingsError, match=f"settings of adapter {kind}: colour"):
        adapter_of(kind).start(launch(kind, settings=settings))


@pytest.mark.parametrize("kind", ADAPTERS)
def test_only_a_finished_turn_can_be_a_question(kind: str) -> None:
    adapter = adapter_of(kind)
    for ending in (Ending.FAILED, Ending.CRASHED, Ending.STOPPED, Ending.NOT_STARTED):
        assert not adapter.question("Which one?", ending)


@pytest.mark.parametrize("kind", ["claude-code", "codex", "opencode", "command"])
def test_agents_that_cannot_ask_are_read_by_the_common_rule(kind: str) -> None:
    adapter = adapter_of(kind)
    assert adapter.question("SQLite or Postgres: which one?", Ending.FINISHED)
    assert not adapter.question("All done.", Ending.FINISHED)


@pytest.mark.parametrize("kind", ["claude-code", "codex", "opencode"])
@pytest.mark.parametrize("prompt", ["--version", "-p", "resume", "--"])
def test_a_prompt_is_never_taken_for_a_flag(kind: str, prompt: str) -> None:
    argv = list(adapter_of(kind).start(launch(kind, prompt=prompt)).argv)
    assert argv[-2:] == ["--", prompt]


def test_an_adapter_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(SettingsError, match=r"no adapter 'claude': use one of claude-code, codex"):
        adapter_of("claude")


def test_claude_codes_hook_is_in_settings_that_only_root_can_write() -> None:
    invocation = adapter_of("claude-code").start(launch("claude-code"))
    managed = json.loads(invocation.root_files["/etc/claude-code/managed-settings.json"])
    hook = managed["hooks"]["PreToolUse"][0]["hooks"][0]
    assert hook["url"] == "http://127.0.0.1:8799/pre?stop=1"
    assert hook["onFailure"] == "block"
    assert managed["allowManagedHooksOnly"] is True
    assert "WebSearch,WebFetch" in invocation.argv
    assert invocation.env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert invocation.env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] == "1"
    assert invocation.env["ANTHROPIC_API_KEY"] == "dummy"


def test_codexs_hook_is_in_requirements_that_only_root_can_write() -> None:
    invocation = adapter_of("codex").start(launch("codex"))
    managed = tomllib.loads(invocation.root_files["/etc/codex/requirements.toml"])
    command = managed["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    # With `continue: false` in its answer Codex would run the tool: the URL must not ask for it.
    assert "stop=1" not in command
    assert command.endswith("|| exit 2")
    config = tomllib.loads(invocation.files[".codex/config.toml"])
    assert config["web_search"] == "disabled"
    assert config["analytics"]["enabled"] is False
    assert config["features"]["unbounded_connection_retries"] is False
    assert config["model_providers"]["proxy"]["base_url"] == "http://127.0.0.1:8787/v1"


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
def test_without_a_root_of_its_own_the_hook_goes_with_the_command(kind: str) -> None:
    invocation = adapter_of(kind).start(launch(kind, private_root=False))
    assert invocation.root_files == {}
    given = " ".join([*invocation.argv, *invocation.files.values()])
    assert "http://127.0.0.1:8799/pre" in given


def test_settings_with_quotes_stay_whole_in_codexs_toml() -> None:
    model = 'odd "model"\\ with\x7f\ttabs'
    invocation = adapter_of("codex").start(launch("codex", model=model))
    assert tomllib.loads(invocation.files[".codex/config.toml"])["model"] == model


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["a", "{promt}"], r"'promt'.*use \{prompt\}"),
        (["a", "{prompt"], "placeholder that is not known"),
        ([], "at least 1 item"),
    ],
)
def test_a_wrong_command_is_explained(argv: list[str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        adapter_of("command").start(launch("command", settings={"argv": argv}))


def test_a_command_gets_its_placeholders_and_braces() -> None:
    settings = {
        "argv": ["agent", "{prompt}", "--url={modelUrl}", "{{literal}}"],
        "env": {"KEY": "{key}"},
        "files": {".agent.json": '{{"model": "{model}"}}'},
    }
    invocation = adapter_of("command").start(launch("command", settings=settings))
    assert invocation.argv == ("agent", "Do it.", "--url=http://127.0.0.1:8787", "{literal}")
    assert invocation.env["KEY"] == "dummy"
    assert json.loads(invocation.files[".agent.json"]) == {"model": "model-1"}


def test_a_step_has_exactly_one_action() -> None:
    for step in ({}, {"say": "a", "shell": "b"}):
        with pytest.raises(SettingsError, match="a step has exactly one of shell, write"):
            adapter_of("scripted").start(launch("scripted", settings={"steps": [step]}))


def test_tool_calls_are_asked_for_beforehand_where_the_agent_has_hooks() -> None:
    counted = {kind: adapter.tool_count for kind, adapter in ADAPTERS.items()}
    assert counted["claude-code"] is counted["codex"] is ToolCount.HOOK
    assert counted["opencode"] is counted["command"] is ToolCount.PROXY


def test_settings_may_be_texts_as_in_a_protocol() -> None:
    texts = {"maxRetries": "2", "backgroundTasks": "true", "disallowedTools": "WebSearch, Task"}
    invocation = adapter_of("claude-code").start(launch("claude-code", settings=texts))
    assert "WebSearch,Task" in invocation.argv
    assert invocation.env["CLAUDE_CODE_MAX_RETRIES"] == "2"
    assert "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS" not in invocation.env
    texts = {"argv": "mini -t '{prompt}' -m openai/{model}", "env": '{"A": "b"}'}
    invocation = adapter_of("command").start(launch("command", settings=texts))
    assert invocation.argv == ("mini", "-t", "Do it.", "-m", "openai/model-1")
    assert invocation.env["A"] == "b"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"argv": "agent 'open"}, "argv: is no command line .no closing quotation.; close"),
        ({"argv": "agent", "env": "A=b"}, "env: is no JSON object.*found 'A=b'"),
        ({"argv": "[agent"}, r"argv: begins as JSON and is none .*found '\[agent'"),
    ],
)
def test_a_text_that_cannot_be_read_is_explained(settings: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        adapter_of("command").start(launch("command", settings=settings))
