"""The real opencode against the scripted provider, in a sandbox with loopback alone."""

from pathlib import Path

import pytest
from atif import Trajectory
from tests.fakes.clis import OPENCODE
from tests.fakes.lab import KEY, MODEL, lab

from agentbench.core.summary import Ending
from agentbench_analysis.rows.words import Availability

pytestmark = pytest.mark.clis
USAGE = {"input": 101, "cacheRead": 30_007, "cacheWrite5m": 2_003, "output": 211}


@pytest.mark.timeout(900)
async def test_a_session_with_a_question_is_counted_at_the_proxy(agents: Path) -> None:
    tool = {"name": "bash", "input": {"command": "echo main >> ran.log", "description": "s"}}
    script = {
        "turns": [
            {"text": "I begin.", "tools": [tool], "usage": USAGE},
            {"text": "SQLite or Postgres: which do you prefer?", "usage": USAGE},
            {"text": "All done.", "usage": USAGE},
        ]
    }
    async with lab(script, bin_folder=agents) as run:
        ended = await run.run(
            "opencode", {}, place={"binary": OPENCODE}, agent={"model": MODEL, "version": "1.18.33"}
        )
        assert (run.workspace / "ran.log").read_text() == "main\n"
    assert ended.summary.ending is Ending.FINISHED
    assert len(ended.calls) == 3
    assert ended.value("cost_usd") == "0.0309606"
    assert ended.value("tool_calls") == 1
    assert ended.measure("tool_calls").availability is Availability.DERIVED
    assert ended.value("interventions") == 1
    assert KEY.encode() not in ended.everything()
    Trajectory.model_validate(ended.trajectory())
