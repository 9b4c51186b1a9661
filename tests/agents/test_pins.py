"""What `locks/agents.json` says is what the tests run and what the adapters do."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.launch import launch

from agentbench.agents.question import RULE
from agentbench.agents.registry import adapter_of

ROOT = Path(__file__).parents[2]
LOCK: dict[str, Any] = json.loads((ROOT / "locks" / "agents.json").read_text())
INSTALLED = json.loads((ROOT / "tests" / "clis" / "package-lock.json").read_text())["packages"]


@pytest.mark.parametrize("kind", LOCK["agents"])
def test_an_agents_pin_is_the_one_that_the_tests_install(kind: str) -> None:
    pin = LOCK["agents"][kind]
    installed = INSTALLED[f"node_modules/{pin['native']}"]
    assert installed["integrity"] == pin["integrity"]
    assert installed["version"].removesuffix("-linux-x64") == pin["version"]


@pytest.mark.parametrize("kind", LOCK["agents"])
def test_an_agents_frozen_settings_are_those_of_its_adapter(kind: str) -> None:
    pin = LOCK["agents"][kind]
    adapter = adapter_of(kind)
    assert adapter.tool_count == pin["toolCount"]
    assert pin["questionRule"] == RULE
    assert adapter.start(launch(kind, settings=pin["settings"])) == adapter.start(
        launch(kind, settings={})
    )


def test_the_lock_names_no_registry() -> None:
    text = (ROOT / "tests" / "clis" / "package-lock.json").read_text()
    assert "resolved" not in text
    assert "://" not in text
