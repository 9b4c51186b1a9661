"""What the API server refuses: CEL rules, policies, quotas, pod security, unknown fields."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster.faults import objects
from tests.cluster.lab.api import Api, ApiError
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait

GROUP = "smoke.agentbench.test"


@pytest.fixture(scope="module")
def frozen_kind(real_cluster: Cluster) -> Any:
    """A kind with a required field that may not change, and one that may not come or go."""
    text = {"type": "string", "maxLength": 64}
    rules = [
        {"rule": "self.seed == oldSelf.seed", "message": "seed is frozen"},
        {"rule": "has(self.note) == has(oldSelf.note)", "message": "note may not come or go"},
    ]
    spec = {
        "type": "object",
        "required": ["seed"],
        "properties": {"seed": text, "note": text},
        "x-kubernetes-validations": rules,
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"frozens.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "frozens", "singular": "frozen", "kind": "Frozen"},
            "versions": [version],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    real_cluster.api.create(path, body)

    def served() -> bool:
        try:
            real_cluster.api.get(f"/apis/{GROUP}/v1/frozens")
        except ApiError:
            return False
        return True

    wait("the kind Frozen to be served", served, 30)
    yield
    real_cluster.api.delete(f"{path}/frozens.{GROUP}")


@pytest.mark.usefixtures("frozen_kind")
def test_a_cel_rule_refuses_to_change_first_set_and_remove_a_frozen_field(
    real_cluster: Cluster, namespace: str
) -> None:
    path = f"/apis/{GROUP}/v1/namespaces/{namespace}/frozens"
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Frozen", "metadata": {"name": "one"}}
    real_cluster.api.create(path, {**body, "spec": {"seed": "1"}})
    with pytest.raises(ApiError, match="seed is frozen"):
        real_cluster.api.patch(f"{path}/one", {"spec": {"seed": "2"}})
    with pytest.raises(ApiError, match="note may not come or go"):
        real_cluster.api.patch(f"{path}/one", {"spec": {"note": "late"}})
    body["metadata"] = {"name": "two"}
    real_cluster.api.create(path, {**body, "spec": {"seed": "1", "note": "early"}})
    with pytest.raises(ApiError, match="note may not come or go"):
        real_cluster.api.patch(f"{path}/two", {"spec": {"note": None}})
    real_cluster.api.patch(f"{path}/two", {"spec": {"note": "other"}})


@pytest.mark.usefixtures("frozen_kind")
def test_strict_validation_refuses_an_unknown_field(real_cluster: Cluster, namespace: str) -> None:
    path = f"/apis/{GROUP}/v1/namespaces/{namespace}/frozens?fieldValidation=Strict"
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Frozen", "metadata": {"name": "odd"}}
    with pytest.raises(ApiError, match=r"unknown field \"spec.sede\""):
        real_cluster.api.create(path, {**body, "spec": {"seed": "1", "sede": "2"}})


def test_an_admission_policy_judges_by_who_asks(real_cluster: Cluster, namespace: str) -> None:
    name = f"signed-{namespace}"
    group = "admissionregistration.k8s.io"
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    signed = "object.data.by == request.userInfo.username"
    policy = {
        "apiVersion": f"{group}/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": signed, "reason": "Forbidden", "message": "sign it"}],
        },
    }
    here = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": here},
        },
    }
    policies = f"/apis/{group}/v1/validatingadmissionpolicies"
    bindings = f"/apis/{group}/v1/validatingadmissionpolicybindings"
    real_cluster.api.create(policies, policy)
    real_cluster.api.create(bindings, binding)
    alice = Api(real_cluster.slot, "alice", ("system:masters",))
    path = f"/api/v1/namespaces/{namespace}/configmaps"

    def note(by: str) -> dict[str, Any]:
        meta = {"generateName": "note-"}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"by": by}}

    def in_force() -> bool:
        try:
            alice.create(path, note("bob"))
        except ApiError:
            return True
        return False

    try:
        wait("the policy to come into force", in_force, 30)
        with pytest.raises(ApiError, match="sign it"):
            alice.create(path, note("bob"))
        assert alice.create(path, note("alice"))["data"] == {"by": "alice"}
    finally:
        real_cluster.api.delete(f"{bindings}/{name}")
        real_cluster.api.delete(f"{policies}/{name}")


def test_a_quota_refuses_what_is_above_it_and_lets_go_when_lifted(
    real_cluster: Cluster, namespace: str
) -> None:
    with objects.quota(real_cluster.api, namespace, pods="0"):
        with pytest.raises(ApiError, match="exceeded quota: no-more") as refused:
            real_cluster.run(namespace, "one", ["true"], "busybox")
        assert refused.value.code == 403
    real_cluster.run(namespace, "one", ["true"], "busybox")
    real_cluster.wait_phase(namespace, "one", "Succeeded")


def test_pod_security_refuses_a_pod_that_is_not_restricted(
    real_cluster: Cluster, namespace: str
) -> None:
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    real_cluster.api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": label}})
    with pytest.raises(ApiError, match='violates PodSecurity "restricted'):
        real_cluster.run(namespace, "loose", ["true"], "busybox")
    tight = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    whole = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    container, spec = {"securityContext": tight}, {"securityContext": whole}
    who = real_cluster.answer(
        namespace, "tight", ["id", "-u"], "busybox", container=container, spec=spec
    )
    assert who.strip() == "1000"
