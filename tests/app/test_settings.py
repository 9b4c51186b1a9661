"""The operator's settings are read once, and a wrong one is named."""

from pathlib import Path

import pytest

from agentbench.app.settings import SettingsError, read_settings


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """The least that the chart sets."""
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef0123456789abcdef\n")
    return {
        "AGENTBENCH_IMAGE": "pod@sha256:1",
        "AGENTBENCH_GATEWAY": "10.0.0.1:3128",
        "AGENTBENCH_GATEWAY_KEY_FILE": str(key),
        "AGENTBENCH_FORBIDDEN": "10.0.0.2:443",
        "AGENTBENCH_NAMESPACE": "system",
    }


def test_ports_are_the_usual_ones_or_those_that_the_environment_names(env: dict[str, str]) -> None:
    usual = read_settings(env)
    assert (usual.metrics_port, usual.health_port) == (9090, 8080)
    named = read_settings(env | {"AGENTBENCH_METRICS_PORT": "0", "AGENTBENCH_HEALTH_PORT": "9999"})
    assert (named.metrics_port, named.health_port) == (0, 9999)


@pytest.mark.parametrize("value", ["70000", "-1", "http"])
def test_a_port_that_is_none_is_named(env: dict[str, str], value: str) -> None:
    with pytest.raises(SettingsError, match=f"AGENTBENCH_METRICS_PORT.*{value}"):
        read_settings(env | {"AGENTBENCH_METRICS_PORT": value})


@pytest.mark.parametrize("name", ["AGENTBENCH_IMAGE", "AGENTBENCH_GATEWAY_KEY_FILE"])
def test_a_missing_variable_is_named(env: dict[str, str], name: str) -> None:
    del env[name]
    with pytest.raises(SettingsError, match=f"{name} is not set"):
        read_settings(env)


def test_a_short_key_is_refused(env: dict[str, str]) -> None:
    Path(env["AGENTBENCH_GATEWAY_KEY_FILE"]).write_bytes(b"short")
    with pytest.raises(SettingsError, match="fewer than 16 bytes"):
        read_settings(env)


def test_the_analysis_is_off_unless_the_environment_says_how_it_is_run(
    env: dict[str, str],
) -> None:
    assert read_settings(env).analysis is None
    told = '{"image": "op@sha256:1", "schedule": "7 * * * *", "nodeSelector": {"a": "b"}}'
    found = read_settings(env | {"AGENTBENCH_ANALYSIS": told}).analysis
    assert found is not None
    assert (found.schedule, found.node_selector) == ("7 * * * *", {"a": "b"})
    with pytest.raises(SettingsError, match=r"AGENTBENCH_ANALYSIS.*memory"):
        read_settings(env | {"AGENTBENCH_ANALYSIS": '{"image": "op", "memory": "lots"}'})
