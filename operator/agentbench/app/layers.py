"""The layers that a run pod may see, as addresses to fetch them from."""

from collections.abc import Iterator

from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Agent
from agentbench.app.campaign import Refused
from agentbench.app.pack import Pack
from agentbench.core.bundle import Layer, plugin_layer, seed_layer, solution_layer
from agentbench.core.keys import layer_key
from agentbench.core.plan import PlannedRun
from agentbench.kube.manifests.paths import HOME, PLUGINS, START, WORKSPACE
from agentbench.pod.told import Download
from agentbench.store.s3 import S3Store

SOLUTION = f"{HOME}/solution"


def run_layers(
    spec: CampaignSpec, run: PlannedRun, agent: Agent, pack: Pack, store: S3Store, lifetime: int
) -> Iterator[Download]:
    """Start state, plugins that are on, and for an oracle its solution; lifetime in seconds.

    The start state is fetched twice: once as the workspace, once for the diff against it.

    Raises:
        Refused: the bundle lacks a layer.
    """

    def download(layer: Layer, target: str) -> Download:
        url = store.presigned_get(layer_key(layer.sha256), lifetime)
        return Download(url=url, sha256=layer.sha256, target=target)

    cell = run.cell
    task = next(task for task in spec.tasks if task.id == cell.task)
    if not task.generate and cell.stack in task.seeds:  # without one: from an empty folder
        seed = _need(pack, seed_layer(cell.task, cell.stack))
        yield download(seed, WORKSPACE)
        yield download(seed, START)
    for plugin in spec.plugins:
        if plugin.id in cell.plugins:
            yield download(_need(pack, plugin_layer(plugin.id)), f"{PLUGINS}/{plugin.target}")
    if agent.adapter == "oracle":
        yield download(_need(pack, solution_layer(cell.task, cell.stack)), SOLUTION)


def _need(pack: Pack, name: str) -> Layer:
    layer = pack.manifest.layer(name)
    if layer is None:
        raise Refused(
            "BundleIncomplete",
            f"the bundle has no layer {name!r}: freeze the pack again, with the file that is named",
        )
    return layer
