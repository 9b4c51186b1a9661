"""The objects of one round of grading: its Job, and the Secret that its pods mount."""

import secrets

from agentbench.api.base import seconds
from agentbench.app.attempt_objects import FINAL
from agentbench.app.campaign import Campaign, Refused
from agentbench.app.pack import Pack
from agentbench.app.passes import Passes
from agentbench.app.settings import Settings
from agentbench.core.bundle import CHECKS_LAYER
from agentbench.core.keys import artifact_key, layer_key
from agentbench.kube.manifests.grader_job import (
    APP_PORT,
    CHECKS,
    HARNESS_PORT,
    app_env,
    grader_job,
)
from agentbench.kube.manifests.parts import Manifest
from agentbench.kube.manifests.paths import WORKSPACE
from agentbench.kube.manifests.run_pod import AttemptKey
from agentbench.kube.manifests.services import URLS, service_scripts
from agentbench.pod.told import CheckTold, Download, HarnessTold, SeedTold, Upload
from agentbench.store.s3 import S3Store

APP_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def grader_objects(
    campaign: Campaign,
    pack: Pack,
    store: S3Store,
    settings: Settings,
    key: AttemptKey,
    round_: int,
    final_sha256: str,
    now: float,
) -> tuple[Manifest, Manifest]:
    """The Job, and its Secret; `now` is Unix time in seconds.

    `final_sha256` is what the captured state must hash to, by the warden's word.
    """
    spec, run, lifetime = campaign.spec, key.run, settings.upload_lifetime
    stack = next(stack for stack in spec.stacks if stack.id == run.cell.stack)
    task = next(task for task in spec.tasks if task.id == run.cell.task)
    job = grader_job(key, spec, settings.place, round_)
    name = job["metadata"]["name"]
    layer = pack.manifest.layer(CHECKS_LAYER)
    if layer is None:
        raise Refused("BundleIncomplete", f"the bundle has no layer {CHECKS_LAYER!r}")
    gateway = Passes(campaign, settings, name, int(now) + lifetime).url("store")

    def upload(artifact: str) -> Upload:
        where = artifact_key(campaign.name, run.id, key.attempt, artifact)
        url, headers = store.presigned_create(where, lifetime)
        return Upload(url=url, headers=dict(headers))

    final = artifact_key(campaign.name, run.id, key.attempt, FINAL)
    token = secrets.token_hex(16)
    urls = {service.kind: URLS[service.kind] for service in stack.services}
    suffix = "" if round_ == 1 else f"-round{round_}"
    names = [f"check-{number}" for number in range(1, spec.checks.repeats + 1)]
    seed = SeedTold(
        layers=(
            Download(
                url=store.presigned_get(final, lifetime),
                packed_sha256=final_sha256,
                target=WORKSPACE,
            ),
            Download(
                url=store.presigned_get(layer_key(layer.sha256), lifetime),
                sha256=layer.sha256,
                target=CHECKS,
            ),
        ),
        gateway=gateway,
    )
    check = CheckTold(
        check=task.check.path,
        security=spec.checks.security.path if spec.checks.security else None,
        repeats=spec.checks.repeats,
        timeout=seconds(task.timeout or spec.checks.timeout),
        token=token,
        app_url=f"http://127.0.0.1:{APP_PORT}",
        harness_url=f"http://127.0.0.1:{HARNESS_PORT}",
        database_url=urls.get("postgres"),
        uploads={entry: upload(f"{entry}{suffix}.json") for entry in (*names, "security")},
        gateway=gateway,
    )
    harness = HarnessTold(
        stack=stack.model_dump(mode="json", by_alias=True, exclude_none=True),
        token=token,
        port=HARNESS_PORT,
        app_port=APP_PORT,
        app_env={
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            **app_env(stack),
        },
        urls=urls,
    )
    secret: Manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": key.namespace,
            "labels": key.labels("grader"),
        },
        "type": "Opaque",
        "stringData": {
            "seed.json": seed.model_dump_json(),
            "check.json": check.model_dump_json(),
            "harness.json": harness.model_dump_json(),
            **service_scripts(stack, pack.text),
        },
    }
    return job, secret
