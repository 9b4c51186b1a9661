"""Reason codes: what happened to an attempt, finer than the protocol's five causes."""

from enum import StrEnum

from agentbench_analysis.rows.words import Cause


class Reason(StrEnum):
    """Why an attempt did not pass; each code has one cause."""

    NODE_LOST = "NodeLost"
    EVICTED = "Evicted"
    PREEMPTED = "Preempted"
    POD_DELETED = "PodDeleted"
    MULTIPLE_PODS = "MultiplePods"
    ENGINE_KILLED = "EngineKilled"
    IMAGE_PULL = "ImagePull"
    UNSCHEDULABLE = "Unschedulable"
    QUOTA_DENIED = "QuotaDenied"
    VOLUME_FAILED = "VolumeFailed"
    NOT_ISOLATED = "NotIsolated"
    SEED_FAILED = "SeedFailed"
    SETUP_FAILED = "SetupFailed"
    WARDEN_DIED = "WardenDied"
    SERVICE_DIED = "ServiceDied"
    STORE_REFUSED = "StoreRefused"
    PROVIDER_OUTAGE = "ProviderOutage"
    UNPRICED_MODEL = "UnpricedModel"
    CHECK_ERROR = "CheckError"
    CHECK_TIMEOUT = "CheckTimeout"
    CAP_WALL = "CapWall"
    CAP_COST = "CapCost"
    CAP_TOOL_CALLS = "CapToolCalls"
    INTERVENTIONS = "Interventions"
    SECURITY_FAILED = "SecurityFailed"
    AGENT_OOM = "AgentOOM"
    AGENT_DISK = "AgentDisk"
    AGENT_CRASH = "AgentCrash"
    APP_NOT_STARTED = "AppNotStarted"
    CHECK_FAILED = "CheckFailed"
    CHECK_FLAKY = "CheckFlaky"

    @property
    def cause(self) -> Cause:
        """Who is to blame for it."""
        return _CAUSES[self]


_CAUSES: dict[Reason, Cause] = {
    **dict.fromkeys(
        (
            Reason.NODE_LOST,
            Reason.EVICTED,
            Reason.PREEMPTED,
            Reason.POD_DELETED,
            Reason.MULTIPLE_PODS,
            Reason.ENGINE_KILLED,
            Reason.IMAGE_PULL,
            Reason.UNSCHEDULABLE,
            Reason.QUOTA_DENIED,
            Reason.VOLUME_FAILED,
            Reason.NOT_ISOLATED,
            Reason.SEED_FAILED,
            Reason.SETUP_FAILED,
            Reason.WARDEN_DIED,
            Reason.SERVICE_DIED,
            Reason.STORE_REFUSED,
            Reason.PROVIDER_OUTAGE,
            Reason.UNPRICED_MODEL,
            Reason.CHECK_ERROR,
            Reason.CHECK_TIMEOUT,
        ),
        Cause.INFRA,
    ),
    **dict.fromkeys((Reason.CAP_WALL, Reason.CAP_COST, Reason.CAP_TOOL_CALLS), Cause.CAP),
    Reason.INTERVENTIONS: Cause.INTERVENTION,
    Reason.SECURITY_FAILED: Cause.SECURITY,
    **dict.fromkeys(
        (
            Reason.AGENT_OOM,
            Reason.AGENT_DISK,
            Reason.AGENT_CRASH,
            Reason.APP_NOT_STARTED,
            Reason.CHECK_FAILED,
            Reason.CHECK_FLAKY,
        ),
        Cause.TASK,
    ),
}
