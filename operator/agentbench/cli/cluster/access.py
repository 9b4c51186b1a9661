"""A campaign's store, opened from a workstation: by the campaign's Secret, or by the AWS keys."""

import base64

from agentbench.api.place import Store as StoreSpec
from agentbench.cli.cluster.connection import Connection, Raw
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.remote import Remote, remote
from agentbench.kube.errors import Denied, Missing

KEYS = ("accessKey", "secretKey")


def store_of(connection: Connection, spec: StoreSpec | None, given: Remote | None = None) -> Remote:
    """The store that a campaign names, with the keys of its Secret.

    A user who may not read the Secret uses the keys of the environment, as every S3 client does.

    Args:
        connection: the cluster, and the campaign's namespace.
        spec: the campaign's `spec.store`.
        given: what the command line says of the endpoint, region and profile.

    Raises:
        BadCluster: the campaign names no S3 store, or its Secret is missing or incomplete.
    """
    if spec is None or not spec.url.startswith("s3://"):
        found = f"is {spec.url!r}" if spec else "is missing"
        raise BadCluster(
            f"spec.store.url {found}: a cluster needs s3://bucket/prefix; set it in campaign.yaml "
            "before the freeze"
        )
    access = secret = None
    if spec.secret_ref is not None and (given is None or given.profile is None):
        access, secret = _keys(connection, spec.secret_ref)
    return remote(
        spec.url,
        endpoint=(given.endpoint if given else None) or spec.endpoint,
        region=(given.region if given else None) or spec.region,
        profile=given.profile if given else None,
        access_key=access,
        secret_key=secret,
    )


def store_of_object(connection: Connection, raw: Raw, given: Remote | None = None) -> Remote:
    """The store of a campaign's object; see `store_of`."""
    store = raw["spec"].get("store")
    return store_of(connection, StoreSpec.model_validate(store) if store else None, given)


def _keys(connection: Connection, name: str) -> tuple[str | None, str | None]:
    try:
        raw = connection.get("secrets", name)
    except Denied:
        return None, None
    except Missing:
        raise BadCluster(
            f"spec.store.secretRef: there is no Secret {name!r} in namespace "
            f"{connection.namespace}: kubectl -n {connection.namespace} create secret generic "
            f"{name} --from-literal=accessKey=... --from-literal=secretKey=..."
        ) from None
    data = raw.get("data") or {}
    lacking = [key for key in KEYS if not data.get(key)]
    if lacking:
        raise BadCluster(
            f"Secret {connection.namespace}/{name} lacks {' and '.join(lacking)}: "
            "a campaign's store needs both"
        )
    access, secret = (base64.b64decode(data[key]).decode() for key in KEYS)
    return access, secret
