"""The objects of one attempt: its Secret, its settings, its pod."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agentbench.agents.brief import (
    BriefError,
    Whereabouts,
    adapter_settings,
    brief,
    mock_script,
    usual_address,
)
from agentbench.agents.port import Launch
from agentbench.agents.registry import adapter_of
from agentbench.agents.settings import SettingsError
from agentbench.api.base import seconds
from agentbench.api.factors import Agent, Command, Stack, Task
from agentbench.app.campaign import Campaign, Refused
from agentbench.app.layers import SOLUTION, run_layers
from agentbench.app.pack import Pack
from agentbench.app.passes import Passes
from agentbench.app.settings import Settings
from agentbench.core.keys import artifact_key
from agentbench.kube.manifests.parts import Manifest, owner
from agentbench.kube.manifests.paths import CONTROL, HOME, PLUGINS, RECORD, TMP, WORKSPACE
from agentbench.kube.manifests.run_pod import AttemptKey, agent_env, run_pod
from agentbench.kube.manifests.services import service_address, service_scripts
from agentbench.kube.names import CAMPAIGN_LABEL, settings_name
from agentbench.pod.mock_provider import ScriptError, read_script
from agentbench.pod.told import MockTold, SeedTold, SetUp, SidecarTold, Upload
from agentbench.store.s3 import S3Store

POD = "pod.json"
CLAIM = "started.json"
SUMMARY = "summary.json"
FINAL = "final.tar.zst"
UPLOADED = ("trajectory.json", "events.jsonl.zst", "usage.jsonl", FINAL, "final.diff")
MOCK_SOCKET = f"{RECORD}/mock-provider.sock"
"""In a folder that the warden alone mounts: the agent reaches the mock through the warden."""


@dataclass(frozen=True, slots=True)
class AttemptObjects:
    """What is created for an attempt, in this order; attempts with the same settings share them."""

    settings: Manifest | None
    secret: Manifest
    pod: Manifest


def attempt_objects(
    campaign: Campaign,
    pack: Pack,
    store: S3Store,
    settings: Settings,
    key: AttemptKey,
    now: float,
) -> AttemptObjects:
    """Put together the objects of an attempt; `now` is Unix time in seconds.

    Raises:
        Refused: the agent's settings or script are wrong, or the bundle lacks a layer.
        BundleError: the bundle lacks a file.
    """
    spec, run = campaign.spec, key.run
    task = next(task for task in spec.tasks if task.id == run.cell.task)
    stack = next(stack for stack in spec.stacks if stack.id == run.cell.stack)
    agent = next(agent for agent in spec.agents if agent.id == run.cell.agent)
    passes = Passes(campaign, settings, key.pod, int(now) + settings.upload_lifetime)
    uploads = _Uploads(campaign.name, run.id, key.attempt, store, settings.upload_lifetime)
    seed = SeedTold(
        layers=tuple(run_layers(spec, run, agent, pack, store, settings.upload_lifetime)),
        gateway=passes.url("store"),
    )
    variables = agent_env(stack, passes.url("agent"))
    try:
        adapter = adapter_settings(agent, run.cell, pack.text, SOLUTION)
        told = brief(
            spec, run, key.attempt, pack.text, _whereabouts(agent, stack, passes, variables)
        )
        mock = _mock(agent, pack)
    except BriefError as error:
        raise Refused("AgentSettings", f"spec.agents[{agent.id}]: {error}") from error
    warden = SidecarTold(
        warden=told,
        setup=tuple(_set_up(task, stack, bool(run.cell.plugins), variables)),
        mock=mock,
        claim=uploads.one(CLAIM),
        uploads={name: uploads.one(name) for name in UPLOADED},
        summary=uploads.one(SUMMARY),
        gateway=passes.url("store"),
        refusals=passes.url("log"),
        pod=f"{key.pod}:{key.run_uid}",
    )
    roots = _root_files(agent, adapter, stack)
    names = {path: f"file-{number}" for number, path in enumerate(roots)}
    shared = settings_name(campaign.uid, roots)
    meta = {
        "name": key.pod,
        "namespace": key.namespace,
        "labels": key.labels("run"),
        "ownerReferences": owner("BenchmarkRun", key.run_object, key.run_uid),
    }
    return AttemptObjects(
        settings={
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": shared,
                "namespace": key.namespace,
                "labels": {
                    "app.kubernetes.io/managed-by": "agent-bench",
                    CAMPAIGN_LABEL: campaign.uid,
                },
                "ownerReferences": owner("BenchmarkCampaign", campaign.name, campaign.uid),
            },
            "immutable": True,
            "data": {names[path]: content for path, content in roots.items()},
        }
        if roots
        else None,
        secret={
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": meta,
            "type": "Opaque",
            "stringData": {
                "seed.json": seed.model_dump_json(),
                "warden.json": warden.model_dump_json(),
                **service_scripts(stack, pack.text),
            },
        },
        pod=run_pod(
            key,
            spec,
            settings.place,
            gateway=passes.url("agent"),
            root_files=names,
            settings=shared,
        ),
    )


def _whereabouts(
    agent: Agent, stack: Stack, passes: Passes, variables: dict[str, str]
) -> Whereabouts:
    """What of the warden's configuration is a run pod's."""
    variables = {name: text for name, text in variables.items() if name not in ("HOME", "TMPDIR")}
    return Whereabouts(
        agent={"workspace": WORKSPACE, "home": HOME, "tmp": TMP, "env": variables},
        upstreams={"proxy": passes.url("model"), **_upstream(agent, stack)},
        listen={"host": "127.0.0.1"},
        control=f"folder:{CONTROL}",
        output=f"{RECORD}/files",
        solution=SOLUTION,
    )


def _upstream(agent: Agent, stack: Stack) -> dict[str, Any]:
    """Where the agent's model calls go; a host that is a service of the stack is in the pod."""
    provider = agent.provider
    if provider is None:
        return {}
    if provider.mock is not None:
        return {provider.api: {"url": "http://mock-provider", "socket": MOCK_SOCKET}}
    url = usual_address(provider)
    parts = urlsplit(url)
    service = service_address(stack, parts.hostname or "")
    if service is None:
        return {provider.api: {"url": url}}
    return {provider.api: {"url": f"http://{service}{parts.path}", "direct": True}}


def _mock(agent: Agent, pack: Pack) -> MockTold | None:
    """The mock provider that the warden serves to itself, if the protocol has one."""
    found = mock_script(agent, pack.text)
    if found is None:
        return None
    path, text = found
    try:
        read_script(text, path)
    except ScriptError as error:
        raise BriefError(str(error)) from error
    return MockTold(path=path, script=text, socket=MOCK_SOCKET)


@dataclass(frozen=True, slots=True)
class _Uploads:
    """Presigned create-only addresses for an attempt's artifacts."""

    campaign: str
    run: str
    attempt: int
    store: S3Store
    lifetime: int

    def one(self, name: str) -> Upload:
        key = artifact_key(self.campaign, self.run, self.attempt, name)
        url, headers = self.store.presigned_create(key, self.lifetime)
        return Upload(url=url, headers=dict(headers))


def _set_up(task: Task, stack: Stack, plugins: bool, variables: dict[str, str]) -> Iterator[SetUp]:
    """What runs in the agent's container before its first prompt, in this order."""

    def step(name: str, command: Command) -> SetUp:
        limit = seconds(command.timeout)
        return SetUp(name=name, run=command.run, timeout=limit, env=variables)

    if task.generate:
        if stack.generate is None:
            raise Refused(
                "InvalidSpec",
                f"spec.tasks[{task.id}].generate is true, and spec.stacks[{stack.id}].generate "
                "is missing: name the command that makes a new app",
            )
        yield step("generate", stack.generate)
    if plugins:  # after a generator, which may want an empty folder
        yield step("plugins", Command(run=f"cp -R {PLUGINS}/. . && rm -rf {PLUGINS}"))
    if stack.setup is not None:
        yield step("setup", stack.setup)


def _root_files(agent: Agent, settings: dict[str, Any], stack: Stack) -> dict[str, str]:
    """Managed settings that the agent's CLI must find, and must not be able to change."""
    launch = Launch(
        prompt="",
        model=agent.model,
        settings=settings,
        workspace=WORKSPACE,
        home=HOME,
        tmp=TMP,
        binary="",
        model_url="http://127.0.0.1:8787",
        hook_url="http://127.0.0.1:8799/pre",
        api_key="dummy",
        env=dict(stack.env),
    )
    try:
        return dict(adapter_of(agent.adapter).start(launch).root_files)
    except SettingsError as error:
        raise Refused("AgentSettings", f"spec.agents[{agent.id}]: {error}") from error
