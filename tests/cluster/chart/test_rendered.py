"""What the chart renders to is hardened, least and whole; wrong values are refused in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.cluster.chart.conftest import EVERYTHING, IMAGES, Object, Render, of_kind
from tests.cluster.operator.installed import CHART, SYSTEM


def pods(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """Name and spec of every pod that the chart makes, those of `helm test` among them."""
    for body in objects:
        if body["kind"] == "Deployment":
            yield body["metadata"]["name"], body["spec"]["template"]["spec"]
        elif body["kind"] == "Pod":
            yield body["metadata"]["name"], body["spec"]


def test_lint_finds_nothing(helm: Callable[..., str]) -> None:
    said = helm("lint", "--strict", CHART, *IMAGES, *EVERYTHING)
    assert "1 chart(s) linted, 0 chart(s) failed" in said
    assert "[WARNING]" not in said


def test_every_pod_is_restricted_and_has_a_root_that_it_cannot_write(render: Render) -> None:
    found = dict(pods(render()))
    assert set(found) == {
        "agent-bench",
        "agent-bench-gateway",
        "agent-bench-test-reach",
        "agent-bench-test-api",
    }
    for name, spec in found.items():
        security = spec["securityContext"]
        assert security["runAsNonRoot"] is True, name
        assert security["runAsUser"] > 0, name
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert spec["enableServiceLinks"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys(), name
        assert all({"configMap", "secret", "emptyDir"} & set(v) for v in spec.get("volumes", ()))
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name
            assert container["resources"]["limits"]["memory"], name
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}, name


def test_only_the_operator_and_the_version_test_have_a_token(render: Render) -> None:
    with_token = {
        name
        for name, spec in pods(render())
        if spec.get("automountServiceAccountToken") is not False
    }
    assert with_token == {"agent-bench", "agent-bench-test-api"}


def test_definitions_and_the_gateways_key_outlive_the_release(render: Render) -> None:
    def kept(objects: list[Object]) -> set[str]:
        return {
            body["metadata"]["name"]
            for body in objects
            if (body["metadata"].get("annotations") or {}).get("helm.sh/resource-policy") == "keep"
        }

    definitions = {"benchmarkcampaigns.agentbench.dev", "benchmarkruns.agentbench.dev"}
    assert kept(render()) == {*definitions, "agent-bench-gateway"}
    assert kept(render("--set", "crds.keep=false")) == {"agent-bench-gateway"}
    assert not of_kind(render("--set", "crds.install=false"), "CustomResourceDefinition")


def test_one_secret_of_yours_takes_the_place_of_the_charts(render: Render) -> None:
    objects = render("--set", "gateway.existingSecret=mine")
    assert not of_kind(objects, "Secret")
    mounted = {
        name: {v["secret"]["secretName"] for v in spec["volumes"] if "secret" in v}
        for name, spec in pods(objects)
        if "volumes" in spec
    }
    assert mounted == {
        "agent-bench": {"mine"},
        "agent-bench-gateway": {"mine"},
        "agent-bench-test-reach": {"mine"},
    }


def test_namespaced_mode_gives_rights_in_the_named_namespaces_alone(render: Render) -> None:
    objects = render("--set", "rbac.namespaced=true", "--set", "rbac.watchNamespaces={one,two}")
    roles = {
        (body["metadata"]["namespace"], body["metadata"]["name"]): body["rules"]
        for body in of_kind(objects, "Role")
    }
    assert set(roles) == {
        ("one", "agent-bench"),
        ("two", "agent-bench"),
        (SYSTEM, "agent-bench-gateway"),
    }
    (everywhere,) = of_kind(objects, "ClusterRole")
    assert {verb for rule in everywhere["rules"] for verb in rule["verbs"]} == {
        "get",
        "list",
        "watch",
    }
    readable = {resource for rule in everywhere["rules"] for resource in rule["resources"]}
    assert readable == {"nodes", "customresourcedefinitions"}
    (container,) = of_kind(objects, "Deployment", "agent-bench")[0]["spec"]["template"]["spec"][
        "containers"
    ]
    env = {each["name"]: each.get("value") for each in container["env"]}
    assert env["AGENTBENCH_WATCH_NAMESPACES"] == "one,two"
    bound = {body["metadata"]["namespace"] for body in of_kind(objects, "RoleBinding")}
    assert bound == {"one", "two", SYSTEM}


def test_the_whole_cluster_is_watched_by_one_role_without_wildcards(render: Render) -> None:
    objects = render()
    for role in [*of_kind(objects, "ClusterRole"), *of_kind(objects, "Role")]:
        for rule in role["rules"]:
            assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
    (env,) = [
        container["env"]
        for body in of_kind(objects, "Deployment", "agent-bench")
        for container in body["spec"]["template"]["spec"]["containers"]
    ]
    assert "AGENTBENCH_WATCH_NAMESPACES" not in {each["name"] for each in env}


def test_operator_and_gateway_let_in_only_who_must_come(render: Render) -> None:
    policies = {
        body["metadata"]["name"]: body["spec"] for body in of_kind(render(), "NetworkPolicy")
    }
    gateway = policies["agent-bench-gateway"]["ingress"]
    assert [entry["ports"] for entry in gateway] == [[{"protocol": "TCP", "port": 3128}]]
    assert gateway[0]["from"][0]["podSelector"] == {
        "matchExpressions": [{"key": "agentbench.dev/campaign", "operator": "Exists"}]
    }
    ports = {
        port["port"]
        for entry in policies["agent-bench-operator"]["ingress"]
        for port in entry["ports"]
    }
    assert ports == {9090, 8080}
    assert policies["agent-bench-test"]["policyTypes"] == ["Ingress", "Egress"]
    mine = ("--set-json", 'networkPolicy.metricsFrom=[{"podSelector":{"matchLabels":{"a":"b"}}}]')
    (operator,) = of_kind(render(*mine), "NetworkPolicy", "-operator")
    assert operator["spec"]["ingress"][0]["from"] == [{"podSelector": {"matchLabels": {"a": "b"}}}]


def test_another_port_of_the_gateways_service_changes_no_policy(render: Render) -> None:
    objects = render("--set", "gateway.port=8888")
    (service,) = of_kind(objects, "Service", "-gateway")
    assert service["spec"]["ports"] == [{"name": "proxy", "port": 8888, "targetPort": "proxy"}]
    (policy,) = of_kind(objects, "NetworkPolicy", "-gateway")
    assert policy["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": 3128}]
    assert "http_port 3128" in of_kind(objects, "ConfigMap", "-gateway")[0]["data"]["squid.conf"]


def test_the_gateways_pods_are_made_anew_for_a_new_configuration_alone(render: Render) -> None:
    def mark(*words: str) -> str:
        (body,) = of_kind(render(*words), "Deployment", "-gateway")
        return str(body["spec"]["template"]["metadata"]["annotations"]["checksum/config"])

    assert mark() == mark("--set", "gateway.replicas=3")
    assert mark() != mark("--set", "gateway.allowedPorts={443,9000}")
    assert mark() != mark("--set", "gateway.deniedCIDRs={10.0.0.0/8}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "image.repository is required: name the image that was built from images/"),
        (("--set", "image.repository=r"), "image has neither digest nor tag: set image.digest"),
        (
            ("--set", "image.repository=r", "--set", "image.tag=v1", "--set", "podImage.tag=v1"),
            "podImage.repository is required",
        ),
        (
            (*IMAGES[:8], "--set", "gateway.image.repository=r"),
            "gateway.image has neither digest nor tag: set gateway.image.digest",
        ),
    ],
)
def test_an_image_that_is_not_said_is_asked_for(
    refusal: Callable[..., str], words: tuple[str, ...], said: str
) -> None:
    assert said in refusal(images=words)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("gateway.port=http", "at '/gateway/port': got string, want integer"),
        ("gatewayy.port=1", "additional properties 'gatewayy' not allowed"),
        ("image.digest=sha256:abc", "at '/image/digest': 'sha256:abc' does not match pattern"),
        ("image.pullPolicy=Sometimes", "at '/image/pullPolicy': value must be one of"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(
    refusal: Callable[..., str], value: str, said: str
) -> None:
    assert said in refusal("--set", value)


def test_notes_say_what_to_do_next(helm: Callable[..., str]) -> None:
    told = ("--namespace", SYSTEM, "--dry-run=client", *IMAGES)
    said = helm("install", "agent-bench", CHART, *told, "--hide-secret")
    assert "helm test agent-bench -n agent-bench-system" in said
    assert "WARNING" not in said
    tagged = (
        *IMAGES[:4],
        "--set",
        "podImage.repository=r",
        "--set",
        "podImage.tag=v1",
        *IMAGES[8:],
    )
    told = ("--namespace", SYSTEM, "--dry-run=client", *tagged, "--hide-secret")
    assert "podImage is not pinned by digest" in helm("install", "agent-bench", CHART, *told)
