"""Manifests are what a strict API server takes, and give an agent nothing it must not have."""

from dataclasses import replace
from typing import Any

import pytest
from kubernetes.client import V1Pod
from tests.fakes.build import a_campaign

from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Service
from agentbench.api.place import Resources
from agentbench.core.plan import plan
from agentbench.kube.manifests.run_pod import AttemptKey, run_pod
from agentbench.kube.manifests.services import service_container
from agentbench.kube.names import pod_name, run_name
from agentbench.kube.settings import Place

DIGEST = "sha256:" + "0" * 64
IMAGE = "example.org/agent@" + DIGEST
PLACE = Place(image="example.org/bench@" + DIGEST, gateway="10.96.0.7:3128", forbidden="10.0.0.1:1")


def spec() -> CampaignSpec:
    return a_campaign(
        agents=1,
        stacks=1,
        nodeClass={
            "selector": {"agentbench.dev/node-class": "pinned"},
            "tolerations": [{"key": "bench", "value": "yes", "effect": "NoSchedule"}],
            "runtimeClassName": "gvisor",
        },
    ).model_copy(update={})


def campaign() -> CampaignSpec:
    base = spec()
    agent = base.agents[0].model_copy(update={"images": {"QS-S1": IMAGE}})
    stack = base.stacks[0].model_validate(
        {
            "id": "QS-S1",
            "name": "Stack",
            "services": [
                {"name": "db", "kind": "postgres", "image": IMAGE, "env": {"DB": "{url}"}},
                {"name": "model", "kind": "mock-model", "env": {"MODEL": "{host}:{port}"}},
            ],
        }
    )
    return base.model_copy(update={"agents": (agent,), "stacks": (stack,)})


def pod(root_files: dict[str, str] | None = None) -> dict[str, Any]:
    frozen = campaign()
    key = AttemptKey(
        namespace="bench",
        campaign="qs",
        campaign_uid="uid-1",
        run_object="qs-run",
        run_uid="uid-2",
        run=plan(frozen)[0],
        attempt=1,
        digest=DIGEST,
    )
    return run_pod(
        key,
        frozen,
        PLACE,
        gateway="http://a:b@10.96.0.7:3128",
        root_files=root_files or {},
    )


def containers() -> dict[str, dict[str, Any]]:
    found = pod()["spec"]
    return {entry["name"]: entry for entry in [*found["initContainers"], *found["containers"]]}


def test_a_strict_model_of_a_pod_takes_it() -> None:
    V1Pod.model_validate(pod({"/etc/codex/requirements.toml": "codex"}))


def test_it_is_a_bare_pod_that_is_never_restarted_and_has_no_token() -> None:
    found = pod()
    assert found["kind"] == "Pod"
    assert found["spec"]["restartPolicy"] == "Never"
    assert found["spec"]["automountServiceAccountToken"] is False
    assert found["spec"]["dnsPolicy"] == "None"


def test_the_fence_comes_first_and_services_stop_only_when_capture_and_warden_have() -> None:
    names = [entry["name"] for entry in pod()["spec"]["initContainers"]]
    assert names == ["fence", "seed", "service-db", "service-model", "warden", "capture"]


def test_what_the_warden_is_told_is_mounted_by_no_container_of_the_agents() -> None:
    holders = {
        name
        for name, entry in containers().items()
        if any(mount["name"] == "told" for mount in entry.get("volumeMounts", ()))
    }
    assert holders == {"seed", "warden"}


def test_the_agent_sees_its_workspace_and_nothing_of_the_record() -> None:
    seen = {mount["name"] for mount in containers()["agent"]["volumeMounts"]}
    assert seen == {"workspace", "home", "tmp", "data", "control", "bin"}


@pytest.mark.parametrize("name", list(containers()))
def test_every_container_is_restricted_and_gets_what_it_asks_for(name: str) -> None:
    entry = containers()[name]
    security = entry["securityContext"]
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["runAsUser"] > 0
    assert entry["resources"]["requests"] == entry["resources"]["limits"]


def test_warden_and_agent_have_different_users() -> None:
    found = containers()
    assert (
        found["warden"]["securityContext"]["runAsUser"]
        != found["agent"]["securityContext"]["runAsUser"]
    )
    assert (
        found["capture"]["securityContext"]["runAsUser"]
        == found["agent"]["securityContext"]["runAsUser"]
    )


def test_the_node_class_is_passed_through() -> None:
    found = pod()["spec"]
    assert found["nodeSelector"] == {"agentbench.dev/node-class": "pinned"}
    assert found["runtimeClassName"] == "gvisor"
    assert found["tolerations"] == [
        {"key": "bench", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}
    ]


def test_services_give_the_app_their_addresses() -> None:
    variables = {entry["name"]: entry["value"] for entry in containers()["agent"]["env"]}
    assert variables["DB"].startswith("postgresql://")
    assert variables["MODEL"] == "127.0.0.1:8090"


def test_no_label_takes_one_value_per_run() -> None:
    found = pod()["metadata"]
    run = found["annotations"]["agentbench.dev/run"]
    assert run not in found["labels"].values()


def test_names_are_valid_and_differ_by_campaign_run_and_attempt() -> None:
    long = "AB-" + "x" * 150 + "-S1-A1-r1"
    names = {
        pod_name("u1", long, 1),
        pod_name("u1", long, 2),
        pod_name("u2", long, 1),
        pod_name("u1", long + "0", 1),
        run_name("u1", long),
    }
    assert len(names) == 5
    assert all(len(name) <= 63 and name == name.lower() for name in names)


def test_a_mock_model_server_sees_its_script_and_nothing_else_of_the_secret() -> None:
    volumes = {entry["name"]: entry for entry in pod()["spec"]["volumes"]}
    assert volumes["script-model"]["secret"]["items"] == [{"key": "script-model", "path": "script"}]
    server = containers()["service-model"]
    assert {mount["name"] for mount in server["volumeMounts"]} == {"data-model", "script-model"}
    assert "/agentbench/script/script" in server["command"]


def test_a_service_without_an_image_of_its_own_takes_the_installations() -> None:
    place = replace(PLACE, service_images=(("redis", IMAGE),))
    small = Resources(cpu="100m", memory="64Mi", disk="64Mi")
    redis = service_container(Service(name="cache", kind="redis"), small, place)
    mail = service_container(Service(name="post", kind="mail"), small, place)
    assert redis["image"] == IMAGE
    assert "command" not in redis
    assert mail["image"] == PLACE.image
    assert mail["command"][2] == "agentbench.pod.mail"


def test_the_agent_has_the_variables_that_it_has_on_one_machine() -> None:
    variables = {entry["name"]: entry["value"] for entry in containers()["agent"]["env"]}
    assert (variables["PORT"], variables["DATA_DIR"]) == ("8080", "/data")
    assert variables["http_proxy"] == variables["HTTPS_PROXY"] == "http://a:b@10.96.0.7:3128"
