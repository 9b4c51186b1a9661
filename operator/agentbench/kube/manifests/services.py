"""Services that a stack declares, as sidecars: fresh in every pod by construction."""

from collections.abc import Callable, Mapping

from agentbench.api.factors import Service, Stack
from agentbench.api.place import Resources
from agentbench.core.bundle import SCRIPTS_LAYER
from agentbench.kube.manifests.parts import (
    SERVICE_UID,
    Manifest,
    container_security,
    empty,
    env,
    fixed,
    program,
)
from agentbench.kube.settings import Place

PORTS: Mapping[str, int] = {"postgres": 5432, "redis": 6379, "mock-model": 8090, "mail": 1025}
URLS: Mapping[str, str] = {
    "postgres": "postgresql://app:app@127.0.0.1:5432/app",
    "redis": "redis://127.0.0.1:6379/0",
    "mock-model": "http://127.0.0.1:8090",
    "mail": "smtp://127.0.0.1:1025",
    "container": "",
}
DATA = "/agentbench/service"
SCRIPT = "/agentbench/script"


def service_env(stack: Stack) -> dict[str, str]:
    """The variables that a stack's services inject into its app."""
    found: dict[str, str] = {}
    for service in stack.services:
        port = str(PORTS.get(service.kind, 0))
        for name, value in service.env.items():
            found[name] = value.format(url=URLS[service.kind], host="127.0.0.1", port=port)
    return found


def service_address(stack: Stack, name: str) -> str | None:
    """Host and port of the service of that name or kind, None if the stack has none."""
    kinds = (service.kind for service in stack.services if name in (service.name, service.kind))
    port = next((PORTS[kind] for kind in kinds if kind in PORTS), None)
    return None if port is None else f"127.0.0.1:{port}"


def service_scripts(stack: Stack, read: Callable[[str, str], str]) -> dict[str, str]:
    """The scripts of mock model servers, by the key of the pod's Secret; `read` by layer and path.

    A server without a script answers every call with one and the same word.
    """
    usual = '{"schema": "agentbench.mock/v1", "turns": [{"text": "Done."}]}'
    return {
        _script_key(service): read(SCRIPTS_LAYER, service.script.path) if service.script else usual
        for service in stack.services
        if service.kind == "mock-model"
    }


def service_volumes(stack: Stack, resources: Resources, secret: str) -> list[Manifest]:
    """Where services keep their data, and the scripts that they play, from the pod's Secret."""
    return [
        volume
        for service in stack.services
        for volume in (
            empty(f"data-{service.name}", resources.disk),
            *((_script_volume(service, secret),) if service.kind == "mock-model" else ()),
        )
    ]


def service_container(service: Service, resources: Resources, place: Place) -> Manifest:
    """The sidecar of one service; the pod's main container waits until it answers."""
    image = service.image or dict(place.service_images).get(service.kind)
    mounts = [{"name": f"data-{service.name}", "mountPath": DATA}]
    container: Manifest = {
        "name": f"service-{service.name}",
        "restartPolicy": "Always",
        "image": image or place.image,
        "imagePullPolicy": place.pull_policy,
        "securityContext": container_security(SERVICE_UID, read_only=False),
        "resources": fixed(resources),
        "volumeMounts": mounts,
    }
    port = PORTS.get(service.kind)
    if port is not None:
        container["startupProbe"] = {
            "tcpSocket": {"port": port},
            "periodSeconds": 1,
            "failureThreshold": 120,
        }
    listen = ("--host", "0.0.0.0", "--port", str(port))
    match service.kind:
        case "mock-model":
            container["command"] = program(
                "agentbench.pod.mock_provider", f"{SCRIPT}/script", *listen
            )
            mounts.append({"name": f"script-{service.name}", "mountPath": SCRIPT})
        case "mail" if image is None:
            container["command"] = program(
                "agentbench.pod.mail", "0.0.0.0", str(port), f"{DATA}/mail"
            )
        case "postgres":
            user = {"POSTGRES_USER": "app", "POSTGRES_PASSWORD": "app", "POSTGRES_DB": "app"}
            container["env"] = env({**user, "PGDATA": f"{DATA}/pgdata"})
    return container


def _script_key(service: Service) -> str:
    return f"script-{service.name}"


def _script_volume(service: Service, secret: str) -> Manifest:
    """One key of the pod's Secret, and nothing else of it."""
    return {
        "name": f"script-{service.name}",
        "secret": {
            "secretName": secret,
            "defaultMode": 0o440,
            "items": [{"key": _script_key(service), "path": "script"}],
        },
    }
