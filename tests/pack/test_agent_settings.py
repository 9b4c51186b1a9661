"""An agent's settings, checked with the pack that names them."""

from pathlib import Path

import pytest
from tests.fakes.packs import a_pack, edit, line_of

from agentbench.pack.check import check
from agentbench.pack.load import load_pack

SETTINGS = [
    (
        "claude-code",
        '{maxRetry: "4"}',
        "settings.maxRetry: adapter claude-code has no such setting. Did you mean maxRetries?",
    ),
    (
        "claude-code",
        '{maxRetries: "many"}',
        "settings.maxRetries: must be a whole number (found 'many'). Write its digits in quotes",
    ),
    (
        "claude-code",
        '{backgroundTasks: "maybe"}',
        "settings.backgroundTasks: must be true or false (found 'maybe'). Write \"true\"",
    ),
    (
        "codex",
        '{reasoningEffort: "huge"}',
        "settings.reasoningEffort: is no known word (found 'huge'). Write one of: minimal, low,",
    ),
    (
        "codex",
        '{streamMaxRetries: "99"}',
        "settings.streamMaxRetries: must be at most 20 (found '99'). Lower it.",
    ),
    ("command", "{}", "settings.argv: is missing. Add it: the command line, as in agent"),
    ("command", '{argv: ""}', "settings.argv: is empty (found []). Write the command line"),
    (
        "command",
        '{argv: \'["agent", "{prompt}"\'}',
        "settings.argv: begins as JSON and is none (Expecting ',' delimiter at character",
    ),
    (
        "command",
        "{argv: '[\"agent\", 7]'}",
        "settings.argv[1]: must be text (found 7). Write it in quotes.",
    ),
    (
        "command",
        '{argv: "agent \'{prompt}"}',
        'settings.argv: is no command line (no closing quotation) (found "agent \'{prompt}").',
    ),
    (
        "command",
        '{argv: "agent {task}"}',
        "settings.argv: '{task}' has a placeholder that is not known ('task') (found",
    ),
    (
        "command",
        "{argv: agent, env: A=1}",
        "settings.env: is no JSON object (found 'A=1'). Write one, as in {",
    ),
    ("nop", "{steps: '[]'}", "settings.steps: adapter nop has no such setting. It has none."),
]


@pytest.mark.parametrize(("adapter", "settings", "complaint"), SETTINGS)
def test_a_setting_that_its_adapter_refuses_is_named_with_its_line(
    tmp_path: Path, adapter: str, settings: str, complaint: str
) -> None:
    pack = a_pack(tmp_path)
    edit(pack, "adapter: nop", f"adapter: {adapter}\n      settings: {settings}")
    (problem,) = check(load_pack(pack))
    assert str(problem).startswith(f"{pack}/campaign.yaml:{line_of(pack, 'settings:')}: ")
    assert f"spec.agents[1].{complaint}" in str(problem)


@pytest.mark.parametrize(
    "argv", ["agent -t {prompt}", '["agent", "-t", "{prompt}"]', "{home}/agent -t {prompt}"]
)
def test_a_command_is_given_with_a_shells_quotes_or_as_json(tmp_path: Path, argv: str) -> None:
    pack = a_pack(tmp_path)
    more = 'env: \'{"A": "1"}\''
    edit(pack, "adapter: nop", f"adapter: command\n      settings: {{argv: '{argv}', {more}}}")
    assert check(load_pack(pack)) == []
