"""Settings of the operator, read once from its environment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from agentbench.core.steps import Patience
from agentbench.kube.settings import AnalysisPlace, Place

USUAL = Patience()

Clock = Callable[[], datetime]
"""Tells the time: the API server's."""


class SettingsError(ValueError):
    """A setting is missing or wrong; the message names the variable and the cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything about an installation that a campaign does not say.

    Times in seconds. `namespaces` is empty for a cluster-wide operator. `interval` is the least
    between two ticks of a campaign, `write_interval` between two statuses that differ in counts
    alone. `resync` is how long a campaign may go without a look at everything. Without `analysis`
    none is run.
    """

    place: Place
    gateway_key: bytes
    namespaces: tuple[str, ...] = ()
    interval: float = 0.1
    write_interval: float = 2.0
    resync: float = 10.0
    metrics_port: int = 9090
    health_port: int = 8080
    upload_lifetime: int = 24 * 3600
    patience: Patience = USUAL
    analysis: AnalysisPlace | None = None


def read_settings(env: Mapping[str, str]) -> Settings:
    """Read the settings.

    Raises:
        SettingsError: a variable is missing, or its file is.
    """

    def need(name: str) -> str:
        value = env.get(name, "")
        if not value:
            raise SettingsError(f"{name} is not set; the chart sets it")
        return value

    key_file = Path(need("AGENTBENCH_GATEWAY_KEY_FILE"))
    try:
        key = key_file.read_bytes().strip()
    except OSError as error:
        raise SettingsError(f"AGENTBENCH_GATEWAY_KEY_FILE {key_file}: {error.strerror}") from error
    if len(key) < 16:
        raise SettingsError(f"AGENTBENCH_GATEWAY_KEY_FILE {key_file}: fewer than 16 bytes")
    images = tuple(
        (kind, env[name])
        for kind, name in (
            ("postgres", "AGENTBENCH_POSTGRES_IMAGE"),
            ("redis", "AGENTBENCH_REDIS_IMAGE"),
            ("mail", "AGENTBENCH_MAIL_IMAGE"),
        )
        if env.get(name)
    )
    return Settings(
        place=Place(
            image=need("AGENTBENCH_IMAGE"),
            gateway=need("AGENTBENCH_GATEWAY"),
            forbidden=need("AGENTBENCH_FORBIDDEN"),
            pull_policy=env.get("AGENTBENCH_PULL_POLICY", "IfNotPresent"),
            pull_secrets=_words(env.get("AGENTBENCH_PULL_SECRETS", "")),
            namespace=need("AGENTBENCH_NAMESPACE"),
            service_images=images,
        ),
        gateway_key=key,
        namespaces=_words(env.get("AGENTBENCH_WATCH_NAMESPACES", "")),
        patience=_patience(env),
        analysis=_analysis(env),
        metrics_port=_port(env, "AGENTBENCH_METRICS_PORT", 9090),
        health_port=_port(env, "AGENTBENCH_HEALTH_PORT", 8080),
    )


def _patience(env: Mapping[str, str]) -> Patience:
    """Time-outs of waiting, where the installation wants others."""
    usual = USUAL
    return Patience(
        image_pull=_number(env, "AGENTBENCH_IMAGE_PULL_SECONDS", usual.image_pull),
        unschedulable=_number(env, "AGENTBENCH_UNSCHEDULABLE_SECONDS", usual.unschedulable),
        quota=_number(env, "AGENTBENCH_QUOTA_SECONDS", usual.quota),
        other=_number(env, "AGENTBENCH_WAITING_SECONDS", usual.other),
    )


def _analysis(env: Mapping[str, str]) -> AnalysisPlace | None:
    """How campaigns are analysed, as JSON; None where the installation runs no analysis."""
    text = env.get("AGENTBENCH_ANALYSIS", "")
    if not text:
        return None
    try:
        return AnalysisPlace.model_validate_json(text)
    except ValidationError as error:
        raise SettingsError(
            f"AGENTBENCH_ANALYSIS: {error.errors(include_url=False)[0]['loc']}: "
            f"{error.errors(include_url=False)[0]['msg']}; correct `analysis` in the chart's values"
        ) from error


def _number(env: Mapping[str, str], name: str, usual: float) -> float:
    try:
        value = float(env.get(name) or usual)
    except ValueError as error:
        raise SettingsError(f"{name}: {env[name]!r} is no number of seconds") from error
    if value <= 0:
        raise SettingsError(f"{name}: {value} must be above zero")
    return value


def _port(env: Mapping[str, str], name: str, usual: int) -> int:
    """A port to listen on; 0 lets the machine choose one that is free."""
    text = env.get(name) or str(usual)
    if not text.isdecimal() or int(text) > 65535:
        raise SettingsError(f"{name}: {text!r} is no port: a number from 0 to 65535")
    return int(text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.replace(",", " ").split() if word)
