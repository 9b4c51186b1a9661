"""The store, from this machine: whether it answers, and keeps its conditions."""

from agentbench.app.stores import PROBE_KEY
from agentbench.cli.findings import Finding, Health
from agentbench.cli.remote import Remote
from agentbench.store.port import StoreError, Unreachable
from agentbench.store.s3 import S3Store

WHAT = "Store"


def conditions(remote: Remote) -> Finding:
    """Whether the store refuses to replace what is there, by trying."""
    try:
        store = remote.open()
        if not isinstance(store, S3Store):
            return Finding(Health.FAIL, WHAT, f"{remote} is no object storage")
        store.require_conditions(PROBE_KEY)
    except Unreachable as error:
        return Finding(
            Health.WARN, WHAT, f"{error}",
            "If it only answers inside the cluster, push and report from there.",
        )  # fmt: skip
    except StoreError as error:
        return Finding(Health.FAIL, WHAT, str(error), "Give the campaign a store that keeps them.")
    return Finding(Health.OK, WHAT, f"{remote} answers, and keeps If-None-Match and If-Match")
