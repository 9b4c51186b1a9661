"""Stores of campaigns: opened once, and only used if they keep their conditions."""

import asyncio
import base64
from dataclasses import dataclass, field

from agentbench.app.campaign import Campaign, Refused
from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import Missing
from agentbench.pod.warden.needles import SHORTEST
from agentbench.store.s3 import S3Store, connect

PROBE_KEY = "agent-bench-probe.txt"


@dataclass(slots=True)
class Stores:
    """Opens the store that a campaign names, with the keys in its Secret."""

    cluster: Cluster
    _open: dict[tuple[str, ...], S3Store] = field(default_factory=dict)

    async def open(self, campaign: Campaign) -> S3Store:
        """The campaign's store.

        Raises:
            Refused: its Secret is missing or incomplete.
            StoreError: it does not answer, or ignores conditions.
        """
        where = campaign.spec.store
        assert where is not None  # a campaign without one was refused
        access, secret = await self._keys(campaign.namespace, where.secret_ref)
        bucket, _, prefix = where.url.removeprefix("s3://").partition("/")
        key = (bucket, prefix, where.endpoint or "", where.region or "", access or "", secret or "")
        if key not in self._open:
            store = connect(
                bucket=bucket,
                prefix=prefix,
                endpoint=where.endpoint,
                region=where.region,
                access_key=access,
                secret_key=secret,
            )
            await asyncio.to_thread(store.require_conditions, PROBE_KEY)
            self._open[key] = store
        return self._open[key]

    async def require_model_keys(self, campaign: Campaign) -> None:
        """See that the Secrets with the model keys are there, before a pod waits for them.

        Raises:
            Refused: one is missing, or has no key.
        """
        for agent in campaign.spec.agents:
            name = agent.provider.key_secret if agent.provider else None
            if name is None:
                continue
            where = f"spec.agents[{agent.id}].provider.keySecret"
            data = await self._secret(campaign.namespace, name, where, "the model key under `key`")
            if not data.get("key"):
                raise Refused(
                    "SecretIncomplete",
                    f"{where}: Secret {campaign.namespace}/{name} must have the model key under "
                    "`key`",
                )
            if len(base64.b64decode(str(data["key"])).strip()) < SHORTEST:
                raise Refused(
                    "SecretIncomplete",
                    f"{where}: the key in Secret {campaign.namespace}/{name} has fewer than "
                    f"{SHORTEST} characters, so every artifact would hold it: store the whole key",
                )

    async def _secret(self, namespace: str, name: str, where: str, keys: str) -> dict[str, str]:
        try:
            raw = await self.cluster.get("Secret", namespace, name)
        except Missing:
            raise Refused(
                "SecretMissing",
                f"{where}: there is no Secret {name!r} in namespace {namespace!r}; create it with "
                f"{keys}",
            ) from None
        return dict(raw.get("data") or {})

    async def _keys(self, namespace: str, name: str | None) -> tuple[str | None, str | None]:
        """Access key and secret key; None for the cluster's own identity."""
        if name is None:
            return None, None
        wanted = "the keys accessKey and secretKey"
        data = await self._secret(namespace, name, "spec.store.secretRef", wanted)
        found = [data.get(entry) for entry in ("accessKey", "secretKey")]
        if None in found:
            raise Refused(
                "SecretIncomplete",
                f"Secret {namespace}/{name} must have the keys accessKey and secretKey",
            )
        access, secret = (base64.b64decode(str(entry)).decode() for entry in found)
        return access, secret
