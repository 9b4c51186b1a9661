"""What a doctor of clusters concludes from what it saw: every look, well and ill."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from agentbench import __version__
from agentbench.api.place import NodeClass
from agentbench.api.schema import crd_files
from agentbench.cli.cluster.doctor import installation, nodes, probing, rights, server, verdicts
from agentbench.cli.cluster.doctor.command import node_class
from agentbench.cli.cluster.doctor.probing import API_SERVER, OTHER_POD, Seen
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.findings import Finding, Health
from agentbench.kube.view import pod_view

BOTH = {OTHER_POD: 0.4, API_SERVER: 1.2}
REACHED = {"open": {OTHER_POD: True, API_SERVER: True}}
WELL: Mapping[str, Any] = {
    "shut": BOTH,
    "open": {"gateway": True},
    "stranger": {"status": 407, "denied": True},
    "store": {"status": 200, "denied": False},
}


def judged(seen: Seen, *, gateway: str = "10.0.0.9:3128", store: bool = True) -> dict[str, Finding]:
    return {each.what: each for each in verdicts.judge(seen, gateway=gateway, store=store)}


@pytest.mark.parametrize(
    ("text", "health"),
    [("v1.33.0", "ok"), ("v1.32.9", "fail"), ("v1.34.4+k3s1", "ok"), ("v2.0.0", "ok"),
     ("1.31", "fail"), ("unknown", "warn")],
)  # fmt: skip
def test_an_api_server_must_be_new_enough(text: str, health: str) -> None:
    assert server.version({"gitVersion": text}).health == health


def test_definitions_are_compared_place_by_place() -> None:
    for text in crd_files().values():
        ours = yaml.safe_load(text)
        theirs = copy.deepcopy(ours)
        theirs["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        assert server.judge_definition(ours, theirs).health is Health.OK
        schema = theirs["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        dropped = next(iter(schema["properties"]["spec"]["properties"]))
        kept = schema["properties"]["spec"]["properties"].pop(dropped)
        older = server.judge_definition(ours, theirs)
        assert older.health is Health.FAIL
        assert f"spec.{dropped}" in older.found
        assert "agent-bench crd | kubectl apply" in older.cure
        schema["properties"]["spec"]["properties"] |= {
            dropped: kept,
            "brandNew": {"type": "string"},
        }
        newer = server.judge_definition(ours, theirs)
        assert newer.health is Health.WARN
        assert "spec.brandNew" in newer.found
        assert server.judge_definition(ours, None).health is Health.FAIL


def test_a_definition_that_lacks_a_rule_is_older() -> None:
    ours = yaml.safe_load(next(iter(crd_files().values())))
    theirs = copy.deepcopy(ours)
    spec = theirs["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["x-kubernetes-validations"]
    spec["x-kubernetes-validations"].pop()
    found = server.judge_definition(ours, theirs)
    assert found.health is Health.FAIL
    assert found.found.endswith("it lacks spec")


def test_a_definition_of_another_version_is_said() -> None:
    ours = yaml.safe_load(next(iter(crd_files().values())))
    theirs = copy.deepcopy(ours)
    theirs["spec"]["versions"][0]["name"] = "v1"
    assert "serves v1, not v1alpha1" in server.judge_definition(ours, theirs).found


def test_a_right_that_is_missing_is_ill_only_if_nothing_works_without_it() -> None:
    needed = next(right for right in rights.RIGHTS if right.needed)
    other = next(right for right in rights.RIGHTS if not right.needed)
    assert rights.judge(needed, [], "bench").health is Health.OK
    assert rights.judge(needed, ["patch"], "bench").health is Health.FAIL
    found = rights.judge(other, ["list"], "bench")
    assert found.health is Health.WARN
    assert "no list in bench" in found.found


def a_deployment(**changes: Any) -> dict[str, Any]:
    env = {
        "AGENTBENCH_IMAGE": "registry/pod@sha256:1",
        "AGENTBENCH_GATEWAY": "service/agent-bench-gateway:3128",
        "AGENTBENCH_WATCH_NAMESPACES": changes.get("watches", ""),
    }
    container = {"env": [{"name": name, "value": value} for name, value in env.items()]}
    secret = {"name": "gateway-key", "secret": {"secretName": "agent-bench-gateway"}}
    return {
        "metadata": {
            "name": "agent-bench",
            "namespace": changes.get("namespace", "system"),
            "labels": {"app.kubernetes.io/version": changes.get("version", __version__)},
        },
        "spec": {
            "replicas": changes.get("replicas", 1),
            "template": {"spec": {"containers": [container], "volumes": [secret]}},
        },
        "status": {"readyReplicas": changes.get("ready", 1)},
    }


def operators(*deployments: dict[str, Any]) -> list[installation.Installation]:
    found = [installation.installation(raw) for raw in deployments]
    return [each for each in found if each is not None]


@pytest.mark.parametrize(
    ("changes", "health", "words"),
    [
        ({}, "ok", "runs, version"),
        ({"replicas": 0, "ready": 0}, "fail", "is scaled to 0"),
        ({"ready": 0}, "fail", "is not ready"),
        ({"watches": "other,more"}, "fail", "looks at other, more, not at bench"),
        ({"watches": "other,bench"}, "ok", "runs"),
        ({"version": "0.0.1"}, "warn", "version 0.0.1; this is"),
    ],
)
def test_an_operator_must_run_and_look_here(
    changes: dict[str, Any], health: str, words: str
) -> None:
    (found,) = installation.judge(operators(a_deployment(**changes)), "bench")
    assert found.health == health
    assert words in found.found


def test_no_operator_and_two_for_one_namespace_are_ill() -> None:
    (found,) = installation.judge([], "bench")
    assert found.health is Health.FAIL
    two = operators(a_deployment(), a_deployment(namespace="second"))
    *_, last = installation.judge(two, "bench")
    assert last.health is Health.FAIL
    assert "system/agent-bench and second/agent-bench all look at bench" in last.found


def test_of_several_operators_the_one_that_looks_here_is_meant() -> None:
    two = operators(a_deployment(watches="other"), a_deployment(namespace="mine", watches="bench"))
    mine = installation.chosen(two, "bench")
    assert mine is not None
    assert mine.namespace == "mine"
    assert (mine.gateway, mine.gateway_port) == ("agent-bench-gateway", 3128)


def a_node(name: str = "n1", *, ready: bool = True, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"class": "pinned"}},
        "spec": spec,
        "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


TAINT = {"key": "dedicated", "value": "runs", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("known", "wanted", "health", "words"),
    [
        ([a_node()], {"selector": {"class": "pinned"}}, "ok", "class=pinned: n1"),
        ([a_node()], {"selector": {"class": "big"}}, "fail", "no node has class=big"),
        ([a_node()], {}, "warn", "none is named: runs may land on any of n1"),
        ([a_node(ready=False)], {"selector": {"class": "pinned"}}, "fail", "n1: not ready"),
        ([a_node(unschedulable=True)], {"selector": {"class": "pinned"}}, "fail", "cordoned"),
        ([a_node(taints=[TAINT])], {"selector": {"class": "pinned"}}, "fail",
         "taint dedicated=runs:NoSchedule"),
        ([a_node(taints=[TAINT])],
         {"selector": {"class": "pinned"}, "tolerations": [{"key": "dedicated", "value": "runs"}]},
         "ok", "n1"),
        ([a_node(), a_node("n2", ready=False)], {"selector": {"class": "pinned"}}, "ok",
         "n1 (not n2: not ready)"),
        ([], {"selector": {"class": "pinned"}}, "fail", "no node has"),
    ],
)  # fmt: skip
def test_a_node_class_needs_a_node_that_takes_runs(
    known: list[dict[str, Any]], wanted: dict[str, Any], health: str, words: str
) -> None:
    place = NodeClass.model_validate(wanted)
    found = nodes.judge([nodes.node(raw, place.tolerations) for raw in known], place)
    assert found.health == health
    assert words in found.found


def test_a_flag_names_another_class_and_a_bad_one_is_refused() -> None:
    assert node_class(None, ("a=b", "c=")).selector == {"a": "b", "c": ""}
    with pytest.raises(BadCluster, match="--node-selector 'ab' is no KEY=VALUE"):
        node_class(None, ("ab",))


def test_a_policy_that_holds_is_proven_by_its_control() -> None:
    found = judged(Seen(opened=REACHED, shut=WELL))
    assert {each.health for each in found.values()} == {Health.OK}
    assert "1.2 s after its start" in found["NetworkPolicy"].found


def test_a_policy_that_is_not_enforced_is_ill() -> None:
    leaky = {**WELL, "shut": {OTHER_POD: 0.4, API_SERVER: None}}
    found = judged(Seen(opened=REACHED, shut=leaky))["NetworkPolicy"]
    assert found.health is Health.FAIL
    assert "a pod that is shut in still reaches API server" in found.found
    assert "Install a network plug-in" in found.cure


def test_without_a_control_that_reaches_nothing_is_proven() -> None:
    deaf = {"open": {OTHER_POD: False, API_SERVER: True}}
    found = judged(Seen(opened=deaf, shut=WELL))["NetworkPolicy"]
    assert found.health is Health.WARN
    assert "not proven" in found.found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"open": {"gateway": False}}, "does not reach 10.0.0.9:3128"),
        ({"stranger": {"status": 200}}, "answers 200 to a stranger"),
    ],
)
def test_a_gateway_must_answer_and_ask_who_it_is(changes: dict[str, Any], words: str) -> None:
    found = judged(Seen(opened=REACHED, shut={**WELL, **changes}))["Gateway"]
    assert found.health is Health.FAIL
    assert words in found.found


def test_a_port_that_the_gateway_forbids_is_told_with_its_cure() -> None:
    refused = {"status": 403, "denied": True, "error": "ERR_ACCESS_DENIED 0"}
    found = judged(Seen(opened=REACHED, shut={**WELL, "store": refused}))["Store from a pod"]
    assert found.health is Health.FAIL
    assert "ERR_ACCESS_DENIED" in found.found
    assert "gateway.allowedPorts" in found.cure
    silent = {"status": 0, "denied": False, "error": "timed out"}
    found = judged(Seen(opened=REACHED, shut={**WELL, "store": silent}))["Store from a pod"]
    assert "no answer through the gateway: timed out" in found.found


def test_probe_pods_that_do_not_start_say_why() -> None:
    seen = Seen(troubles=["the open pod did not start: ImagePull: probe: ImagePullBackOff"])
    (found,) = judged(seen).values()
    assert found.health is Health.FAIL
    assert "podImage" in found.cure


def an_image_pod(**states: dict[str, Any]) -> dict[str, Any]:
    statuses = [{"name": name.replace("_", "-"), "state": state} for name, state in states.items()]
    return {
        "metadata": {"name": "p", "uid": "u", "creationTimestamp": "2026-11-30T10:00:00Z"},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Pending", "containerStatuses": statuses},
    }


def test_an_image_is_had_when_its_container_got_beyond_pulling() -> None:
    pod = an_image_pod(
        image_0={"terminated": {"exitCode": 0}},
        image_1={"waiting": {"reason": "ErrImagePull", "message": "not found"}},
        image_2={"waiting": {"reason": "RunContainerError", "message": "true: no such file"}},
        image_3={"waiting": {"reason": "ContainerCreating"}},
    )
    found = probing.pulled(pod_view(pod), ["a", "b", "c", "d", "e"])
    assert found == {
        "a": "", "b": "ErrImagePull: not found", "c": "", "d": "is still being pulled",
        "e": "was not begun",
    }  # fmt: skip
    told = list(verdicts.judge(Seen(images=found), gateway="", store=False))
    assert [each.health for each in told] == [Health.FAIL] * 3
