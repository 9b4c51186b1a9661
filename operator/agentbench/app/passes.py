"""The gateway credentials of an attempt: one per class of caller."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from agentbench.agents.brief import usual_address
from agentbench.api.campaign import CampaignSpec
from agentbench.app.campaign import Campaign
from agentbench.app.settings import Settings
from agentbench.core.credentials import GATEWAY_HOST, Pass, proxy_url


@dataclass(frozen=True, slots=True)
class Passes:
    """Makes the credentials of one caller: a run pod, or a grading Job.

    Classes: `agent`, `model` (the warden's calls), `store`, and `log` (what was refused).
    """

    campaign: Campaign
    settings: Settings
    caller: str
    expires: int

    def url(self, kind: str) -> str:
        """The gateway's address with the credential of one class in it."""
        entry = Pass(caller=self.caller, kind=kind, hosts=self._hosts(kind), expires=self.expires)
        return proxy_url(self.settings.place.gateway, entry, self.settings.gateway_key)

    def _hosts(self, kind: str) -> tuple[str, ...]:
        spec = self.campaign.spec
        if kind == "agent":
            return tuple(spec.egress.agent)
        if kind == "model":
            return (*spec.egress.model, *sorted(_model_hosts(spec)))
        if kind == "log":
            return (GATEWAY_HOST,)
        return (store_host(self.campaign),)


def _model_hosts(spec: CampaignSpec) -> set[str]:
    """Where the providers of a campaign's agents answer, as a gateway lists it."""
    named = [agent.provider for agent in spec.agents if agent.provider is not None]
    return {_listed(usual_address(each)) for each in named if each.mock is None}


def store_host(campaign: Campaign) -> str:
    """The host and port at which a campaign's store answers, as a gateway lists it."""
    store = campaign.spec.store
    assert store is not None  # a campaign without one was refused
    if store.endpoint is None:
        region = store.region or "us-east-1"
        bucket = store.url.removeprefix("s3://").split("/")[0]
        # A certificate for *.s3... covers no bucket with dots: its name goes into the path.
        named = "" if "." in bucket else f"{bucket}."
        return f"{named}s3.{region}.amazonaws.com"
    return _listed(store.endpoint)


def _listed(url: str) -> str:
    """An address as a credential lists it: the host, and the port where it is not 443."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return host if port == 443 else f"{host}:{port}"
