"""What promtool says of the metrics, of the rules, and of when each alert fires."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest
from tests.monitoring.feed import Feed
from tests.monitoring.rules import CHART, alerts, rules, thresholds

from agentbench.app.metric_list import EVERY
from agentbench.app.metrics import Metrics

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def promtool(programs: dict[str, Path], *words: object, text: str = "") -> str:
    """What promtool prints; a failure shows it."""
    done = subprocess.run(
        [str(programs["promtool"]), *map(str, words)],
        input=text, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def exposed() -> str:
    """All metrics, as they are exposed."""
    registry = CollectorRegistry()
    Feed(Metrics(registry)).go_on()
    return generate_latest(registry).decode()


def test_names_and_kinds_of_all_metrics_follow_the_conventions(
    programs: dict[str, Path], exposed: str
) -> None:
    # A rule's breach is printed also where promtool ends well.
    assert promtool(programs, "check", "metrics", text=exposed) == ""


def test_every_metric_of_the_list_is_exposed_and_no_other(exposed: str) -> None:
    found = {line.split()[2] for line in exposed.splitlines() if line.startswith("# TYPE")}
    assert found == {spec.name for spec in EVERY}


def test_promtool_catches_a_name_against_the_conventions(programs: dict[str, Path]) -> None:
    text = "# HELP bad_counter Bad.\n# TYPE bad_counter counter\nbad_counter 1\n"
    with pytest.raises(AssertionError, match="_total"):
        promtool(programs, "check", "metrics", text=text)


def test_the_rules_are_rules(programs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "alerts.yaml"
    path.write_text(rules())
    assert f"{len(alerts())} rules found" in promtool(programs, "check", "rules", path)


def test_each_alert_fires_on_what_it_is_for_and_on_nothing_else(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "alerts.yaml").write_text(rules())
    shutil.copy(HERE / "alerts_test.yaml", tmp_path)
    promtool(programs, "test", "rules", tmp_path / "alerts_test.yaml")


def test_no_alert_is_without_a_test_that_sees_it_fire() -> None:
    cases = yaml.safe_load((HERE / "alerts_test.yaml").read_text())["tests"]
    fired = {
        each["alertname"]
        for case in cases
        for each in case["alert_rule_test"]
        if each["exp_alerts"]
    }
    assert fired == {alert["alert"] for alert in alerts()}


def test_every_threshold_is_used_and_every_placeholder_has_one() -> None:
    text = (CHART / "files/alerts.yaml").read_text()
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert set(re.findall(r"\$\{(\w+)\}", body)) - {"runbooks"} == set(thresholds())


def test_every_alert_has_a_runbook_under_its_own_heading() -> None:
    page = (ROOT / "docs/alerts.md").read_text()
    headings = re.findall(r"^### (\w+)$", page, re.M)
    assert headings == [alert["alert"] for alert in alerts()]
    for alert in alerts():
        assert alert["annotations"]["runbook_url"] == f"docs/alerts.md#{alert['alert'].lower()}"
