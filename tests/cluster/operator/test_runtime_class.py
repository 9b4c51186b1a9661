"""The frozen runtime class holds for agent and app, and the row says which it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cluster.lab import tools
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.captured import captured
from tests.cluster.operator.placing import NODES
from tests.cluster.operator.process import OperatorProcess
from tests.fakes.local_pack import APP, TinyPack

RUN = "T1-S1-A1-r1"
KERNEL = "import json, platform; print(json.dumps(platform.release()))"
ASK = f'python3 -c "{KERNEL}" > kernel.json'
# The app says its kernel in place of the time.
TELLING = APP.replace("import os, time", "import os, platform, time").replace(
    "str(time.time())", "platform.release()"
)
CHECK = """
kernel = get("/time")
say("kernel", True, kernel)
sys.exit(0)
"""

if tools.gvisor_wanted():

    @pytest.mark.timeout(200, func_only=True)
    def test_agent_and_app_run_in_the_frozen_runtime_class(
        operating: OperatorProcess, apply: Callable[..., Campaign], tmp_path: Path
    ) -> None:
        pack = TinyPack(
            folder=tmp_path / "pack",
            agents={"A1": [{"shell": f"{ASK} && mv solved.py app.py"}]},
            seed={"solved.py": TELLING, "app.py": "raise SystemExit('not yet')\n"},
            check=CHECK,
        )
        where = {**NODES, "runtimeClassName": "gvisor"}
        campaign = apply(pack, name="gvisor", nodeClass=where)
        campaign.wait("Complete", seconds=180)
        row = campaign.rows()[f"{RUN}/1"]
        assert row["environment"]["isolation"] == "gvisor"
        assert row["environment"]["kernel"] != captured(campaign, RUN, "kernel.json")
        report = campaign.store.get(f"gvisor/artifacts/{RUN}/1/check-1.json").decode()
        assert row["outcome"] == "pass", row
        assert captured(campaign, RUN, "kernel.json") in report
        assert row["environment"]["kernel"] not in report
