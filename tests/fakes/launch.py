"""What adapters are told, in tests."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentbench.agents.port import Launch

LAUNCH = Launch(
    prompt="Do it.",
    model="model-1",
    settings={},
    workspace="/workspace",
    home="/home/agent",
    tmp="/home/agent/tmp",
    binary="",
    model_url="http://127.0.0.1:8787",
    hook_url="http://127.0.0.1:8799/pre",
    api_key="dummy",
    env={"PATH": "/usr/bin:/bin", "HOME": "/home/agent", "DATABASE_URL": "postgres://db"},
)
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "command": {"argv": ["agent", "{prompt}"], "resume": ["agent", "--go-on", "{reply}"]},
    "scripted": {"steps": [{"say": "hello"}]},
    "oracle": {"solution": "/solution"},
}


def launch(kind: str, **changes: Any) -> Launch:
    return replace(LAUNCH, **{"settings": SETTINGS.get(kind, {}), **changes})
