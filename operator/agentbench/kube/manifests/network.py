"""NetworkPolicies of a campaign: its pods reach the gateway, and nothing else at all."""

from agentbench.kube.manifests.parts import Manifest, owner
from agentbench.kube.names import CAMPAIGN_LABEL, ROLE_LABEL, policy_name
from agentbench.kube.settings import Place


def policy(namespace: str, campaign: str, campaign_uid: str, role: str, place: Place) -> Manifest:
    """The policy of one role's pods: no way in, and one way out, without DNS."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": policy_name(campaign_uid, role),
            "namespace": namespace,
            "labels": {
                "app.kubernetes.io/managed-by": "agent-bench",
                CAMPAIGN_LABEL: campaign_uid,
            },
            "ownerReferences": owner("BenchmarkCampaign", campaign, campaign_uid),
        },
        "spec": {
            "podSelector": {"matchLabels": {CAMPAIGN_LABEL: campaign_uid, ROLE_LABEL: role}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [],
            "egress": [
                {
                    "to": [
                        {
                            "namespaceSelector": {
                                "matchLabels": {"kubernetes.io/metadata.name": place.namespace}
                            },
                            "podSelector": {"matchLabels": dict(place.gateway_labels)},
                        }
                    ],
                    "ports": [{"protocol": "TCP", "port": place.gateway_port}],
                }
            ],
        },
    }
