"""Names are the lock: a function of identity, so that creating twice is creating once."""

import re
from collections.abc import Mapping
from hashlib import sha256

GROUP = "agentbench.dev"

CAMPAIGN_LABEL = f"{GROUP}/campaign"  # the campaign's uid
ROLE_LABEL = f"{GROUP}/role"
TASK_LABEL = f"{GROUP}/task"
STACK_LABEL = f"{GROUP}/stack"
AGENT_LABEL = f"{GROUP}/agent"
RUN_ANNOTATION = f"{GROUP}/run"
ATTEMPT_ANNOTATION = f"{GROUP}/attempt"
ROUND_ANNOTATION = f"{GROUP}/round"  # of grading
DIGEST_ANNOTATION = f"{GROUP}/protocol-digest"
MANIFEST_ANNOTATION = f"{GROUP}/manifest"  # digest of what an object was made from

RUN_ROLE = "run"
GRADER_ROLE = "grader"
ANALYSIS_ROLE = "analysis"

_READABLE = 36  # of a run id, so that with attempt and hash a name stays below 63


def run_name(campaign_uid: str, run: str) -> str:
    """Name of a run's BenchmarkRun."""
    return f"{_slug(run)}-{_hash(campaign_uid, run)}"


def pod_name(campaign_uid: str, run: str, attempt: int) -> str:
    """Name of an attempt's run pod, and of its Secrets."""
    return f"{_slug(run)}-a{attempt}-{_hash(campaign_uid, run, attempt)}"


def settings_name(campaign_uid: str, content: Mapping[str, str]) -> str:
    """Name of the ConfigMap that attempts with the same managed settings share."""
    return f"agent-bench-settings-{_hash(campaign_uid, *sorted(content.items()))}"


def grader_name(campaign_uid: str, run: str, attempt: int, round_: int) -> str:
    """Name of a grading Job; a second round repeats a grading that could not judge."""
    return f"{_slug(run)}-g{attempt}{round_}-{_hash(campaign_uid, run, attempt, round_)}"


def policy_name(campaign_uid: str, role: str) -> str:
    """Name of a campaign's NetworkPolicy for one role."""
    return f"agent-bench-{role}-{_hash(campaign_uid, role)}"


def analysis_name(campaign_uid: str) -> str:
    """Name of a campaign's analysis CronJob; a CronJob's name has at most 52 characters."""
    return f"agent-bench-analysis-{_hash(campaign_uid, 'analysis')}"


def last_analysis_name(campaign_uid: str, rows: int) -> str:
    """Name of the analysis Job that follows the last of so many rows at once."""
    return f"{analysis_name(campaign_uid)}-{rows}"


def _slug(run: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", run.lower()).strip("-")[:_READABLE].strip("-")


def _hash(*parts: object) -> str:
    return sha256("/".join(map(str, parts)).encode()).hexdigest()[:12]
