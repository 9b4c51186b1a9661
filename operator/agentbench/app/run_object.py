"""The object of a run: which cell and which repeat, owned by its campaign."""

from agentbench.api.run import RunCell, RunSpec
from agentbench.app.campaign import Campaign
from agentbench.core.plan import PlannedRun
from agentbench.kube.manifests.parts import Manifest, owner
from agentbench.kube.names import (
    AGENT_LABEL,
    CAMPAIGN_LABEL,
    GROUP,
    STACK_LABEL,
    TASK_LABEL,
    run_name,
)


def run_object(campaign: Campaign, run: PlannedRun) -> Manifest:
    """The BenchmarkRun of a planned run."""
    name = run_name(campaign.uid, run.id)
    spec = RunSpec(
        campaign_uid=campaign.uid,
        run=run.id,
        cell=RunCell(
            task=run.cell.task,
            stack=run.cell.stack,
            agent=run.cell.agent,
            plugins=run.cell.plugins,
        ),
        repeat=run.repeat,
        order=run.order,
        phase=run.phase,
    )
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {
            "name": name,
            "namespace": campaign.namespace,
            "labels": {
                "app.kubernetes.io/managed-by": "agent-bench",
                CAMPAIGN_LABEL: campaign.uid,
                TASK_LABEL: run.cell.task,
                STACK_LABEL: run.cell.stack,
                AGENT_LABEL: run.cell.agent,
            },
            "ownerReferences": owner("BenchmarkCampaign", campaign.name, campaign.uid),
        },
        "spec": spec.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
