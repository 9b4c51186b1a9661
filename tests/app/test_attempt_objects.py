"""What an attempt's pod is told, from a frozen pack to the Secret that its programs mount."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.local_pack import TinyPack, put_layer

from agentbench.api.campaign import CampaignSpec
from agentbench.app.attempt_objects import MOCK_SOCKET, attempt_objects
from agentbench.app.campaign import Campaign, Refused
from agentbench.app.pack import Pack
from agentbench.app.pack import load_pack as load
from agentbench.app.settings import Settings
from agentbench.core.bundle import BundleManifest
from agentbench.core.credentials import read
from agentbench.core.digest import digest
from agentbench.core.keys import bundle_key
from agentbench.core.plan import plan
from agentbench.kube.manifests.paths import PLUGINS
from agentbench.kube.manifests.run_pod import AttemptKey
from agentbench.kube.settings import Place
from agentbench.pod.told import SeedTold, SidecarTold
from agentbench.pod.warden.config import WardenConfig
from agentbench.store.folder import FolderStore
from agentbench.store.s3 import connect

IMAGE = "example.org/x@sha256:" + "0" * 64
SETTINGS = Settings(
    place=Place(image=IMAGE, gateway="10.96.0.7:3128", forbidden="10.0.0.1:1"),
    gateway_key=b"0123456789abcdef",
)
MOCK = {"api": "anthropic", "mock": {"path": "scripts/model.yaml"}}


@dataclass
class Made:
    """The objects of the first attempt of a campaign's last run."""

    seed: SeedTold
    told: SidecarTold
    pod: dict[str, Any]

    @property
    def warden(self) -> WardenConfig:
        return WardenConfig.model_validate(self.told.warden)


def make(pack: TinyPack, folder: Path, plugin: bool = False, **changes: Any) -> Made:
    store = FolderStore(folder / "store")
    spec, manifest = pack.freeze(store)
    document = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    if plugin:
        (folder / "plugin").mkdir()
        (folder / "plugin/SKILL.md").write_text("how to\n")
        layer = put_layer(store, "plugin/P1", folder / "plugin")
        manifest = BundleManifest(layers=(*manifest.layers, layer))
        document["plugins"] = [{"id": "P1", "name": "Skill", "path": {"path": "plugin"}}]
    store.create_only(bundle_key(manifest.sha256), manifest.encode())
    document["protocol"]["bundle"] = {"url": "s3://bucket", "sha256": manifest.sha256}
    document["store"] = {"url": "s3://bucket", "endpoint": "http://10.0.0.5:9000"}
    for agent in document["agents"]:
        agent["images"] = {"S1": IMAGE}
    for key, value in changes.items():
        document[key][0] |= value
    spec = CampaignSpec.model_validate(document)
    return objects(spec, load(spec, store))


def objects(spec: CampaignSpec, pack: Pack) -> Made:
    runs = plan(spec)
    run = max(runs, key=lambda each: len(each.cell.plugins))
    campaign = Campaign(
        name="tiny",
        namespace="bench",
        uid="u1",
        generation=1,
        spec=spec,
        digest=digest(spec),
        runs=runs,
    )
    key = AttemptKey(
        namespace="bench",
        campaign="tiny",
        campaign_uid="u1",
        run_object="run-1",
        run_uid="u2",
        run=run,
        attempt=1,
        digest=campaign.digest,
    )
    s3 = connect(
        bucket="bucket", endpoint="http://10.0.0.5:9000", access_key="a" * 8, secret_key="b" * 8
    )
    made = attempt_objects(campaign, pack, s3, SETTINGS, key, now=1_800_000_000)
    data = made.secret["stringData"]
    return Made(
        seed=SeedTold.model_validate_json(data["seed.json"]),
        told=SidecarTold.model_validate_json(data["warden.json"]),
        pod=made.pod,
    )


def hosts(address: str | None) -> tuple[str, tuple[str, ...]]:
    """Class and hosts of the credential in a gateway address."""
    assert address is not None
    entry = read(address.removeprefix("http://").split(":")[0])
    return entry.kind, entry.hosts


def scripted(folder: Path, **more: Any) -> TinyPack:
    return TinyPack(folder=folder / "pack", agents={"A1": [{"say": "hi"}]}, **more)


def test_a_mock_is_served_where_the_agents_container_cannot_reach_it(tmp_path: Path) -> None:
    made = make(scripted(tmp_path, provider=MOCK), tmp_path)
    assert made.told.mock is not None
    assert made.told.mock.socket == MOCK_SOCKET
    assert made.warden.upstreams.anthropic is not None
    assert made.warden.upstreams.anthropic.socket == MOCK_SOCKET
    agent = made.pod["spec"]["containers"][0]
    mounted = [mount["mountPath"] for mount in agent["volumeMounts"]]
    assert not any(MOCK_SOCKET.startswith(path + "/") for path in mounted)


def test_a_mock_that_is_no_script_is_refused_before_anything_starts(tmp_path: Path) -> None:
    broken = {"api": "anthropic", "mock": {"path": "scripts/broken.yaml"}}
    pack = scripted(tmp_path, provider=broken, scripts={"scripts/broken.yaml": "turns: 7"})
    with pytest.raises(Refused, match=r"spec.agents\[A1\]: scripts/broken.yaml"):
        make(pack, tmp_path)


def test_steps_come_from_the_scripts_layer_in_yaml(tmp_path: Path) -> None:
    made = make(scripted(tmp_path), tmp_path)
    assert made.warden.agent.settings == {"steps": [{"say": "hi"}]}


def test_each_credential_opens_the_hosts_of_its_class_alone(tmp_path: Path) -> None:
    provider = {"api": "anthropic", "baseUrl": "http://model.test:8000/x", "keySecret": "k"}
    made = make(scripted(tmp_path, provider=provider), tmp_path)
    assert hosts(made.told.gateway) == ("store", ("10.0.0.5:9000",))
    assert hosts(made.told.refusals) == ("log", ("log.gateway.agentbench.internal:80",))
    assert hosts(made.warden.upstreams.proxy) == ("model", ("model.test:8000",))
    env = {entry["name"]: entry["value"] for entry in made.pod["spec"]["containers"][0]["env"]}
    assert hosts(env["HTTP_PROXY"]) == ("agent", ())
    assert str(made.told.refusals) not in json.dumps(made.pod)


def test_a_model_that_is_a_service_of_the_stack_is_called_in_the_pod(tmp_path: Path) -> None:
    provider = {"api": "openai", "baseUrl": "http://model:1234/x", "keySecret": "k"}
    service = {"name": "model", "kind": "mock-model"}
    pack = scripted(tmp_path, provider=provider, stack={"services": [service]})
    upstream = make(pack, tmp_path).warden.upstreams.openai
    assert upstream is not None
    assert (upstream.url, upstream.direct) == ("http://127.0.0.1:8090/x", True)


def test_a_plugin_that_is_on_is_laid_between_generator_and_set_up(tmp_path: Path) -> None:
    commands = {
        "generate": {"run": "make-app .", "timeout": "1m"},
        "setup": {"run": "install", "timeout": "2m"},
    }
    pack = scripted(tmp_path, stack=commands)
    made = make(pack, tmp_path, plugin=True, tasks={"generate": True})
    assert [(step.name, step.timeout) for step in made.told.setup] == [
        ("generate", 60.0),
        ("plugins", 600.0),
        ("setup", 120.0),
    ]
    assert [layer.target for layer in made.seed.layers] == [f"{PLUGINS}/.agents/skills"]


def test_without_a_generator_the_seed_is_restored_twice_for_the_diff(tmp_path: Path) -> None:
    made = make(scripted(tmp_path), tmp_path)
    assert [layer.target for layer in made.seed.layers] == ["/workspace", "/agentbench/start"]
    assert made.told.setup == ()


def test_an_oracle_gets_the_solution_of_its_cell(tmp_path: Path) -> None:
    made = make(TinyPack(folder=tmp_path / "pack"), tmp_path)
    assert made.warden.agent.settings == {"solution": "/home/agent/solution"}
    assert "/home/agent/solution" in [layer.target for layer in made.seed.layers]
