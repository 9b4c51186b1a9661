"""The invariants of a campaign, judged from what an independent witness saw.

Each rule is a pure function of the timeline and returns the violations it finds; an empty list
means that the invariant held at every instant the witness saw. They are numbered as in the design.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from tests.cluster.witness import secrecy
from tests.cluster.witness.timeline import (
    Attempt,
    CampaignSeen,
    NodeSeen,
    PodSeen,
    RunSeen,
    Timeline,
)

MUTABLE = {"parallelism", "suspend", "cancel", "ttlAfterRecorded", "keepFailedPods"}


@dataclass(frozen=True)
class Violation:
    """A broken invariant: its number, and what was seen."""

    invariant: int
    text: str

    def __str__(self) -> str:
        return f"invariant {self.invariant}: {self.text}"


def one_row_per_attempt(timeline: Timeline) -> list[str]:
    """1. Exactly one row, or one recorded reason for none, per attempt; none changed or lost."""
    found = []
    for key, sightings in timeline.rows().items():
        contents = [one.content for one in sightings]
        if None in contents:
            found.append(f"{key} was there and then was not")
        if len({content for content in contents if content is not None}) > 1:
            found.append(f"{key} was changed")
    last = {one.body["metadata"]["uid"]: one for one in timeline.seen if isinstance(one, RunSeen)}
    reasons = {attempt: why for one in last.values() for attempt, why in one.reasons().items()}
    for uid, specs in timeline.campaigns().items():
        rows = timeline.last_rows(specs[-1])
        started = {pod.attempt for pod in timeline.pods("run") if pod.campaign == uid}
        for attempt in sorted(started - {None}, key=str):
            assert attempt is not None
            row = rows.get((attempt.run, attempt.number))
            if row is None and attempt not in reasons:
                found.append(f"{attempt} had a pod, and has neither a row nor a reason for none")
            if row is not None and attempt in reasons:
                found.append(f"{attempt} has a row and a reason for none ({reasons[attempt]})")
        for (run, number), row in rows.items():
            inside = (row.row.get("run"), row.row.get("attempt"))
            if inside != (run, number):
                found.append(f"{row.key} holds the row of {inside[0]} attempt {inside[1]}")
    return found


def never_above_parallelism(timeline: Timeline) -> list[str]:
    """2. Live run pods never exceed `parallelism`, at any instant.

    A lowered limit kills nothing: above it, only a pod that is added breaks the rule.
    """
    found = []
    allowed: dict[str, int] = {}
    live: dict[str, set[str]] = {}
    for one in timeline.seen:
        if isinstance(one, CampaignSeen):
            allowed[one.uid] = one.parallelism
        if not isinstance(one, PodSeen) or one.role != "run":
            continue
        pods = live.setdefault(one.campaign, set())
        if not one.live:
            pods.discard(one.uid)
        elif one.uid not in pods:
            pods.add(one.uid)
            limit = allowed.get(one.campaign)
            if limit is not None and len(pods) > limit:
                found.append(f"{one.name} was live run pod {len(pods)} of at most {limit}")
    return found


def no_agent_twice(timeline: Timeline) -> list[str]:
    """3. One pod per attempt; a second attempt only when the first pod, or its node, is gone."""
    found = []
    uids: dict[Attempt, str] = {}
    latest: dict[str, PodSeen] = {}
    ready: dict[str, bool] = {}
    for one in timeline.seen:
        if isinstance(one, NodeSeen):
            ready[one.name] = one.ready
        if not isinstance(one, PodSeen) or one.role != "run" or one.attempt is None:
            continue
        attempt, new = one.attempt, one.uid not in latest
        latest[one.uid] = one
        if not new:
            continue
        if not 1 <= attempt.number <= 2:
            found.append(f"{one.name} is attempt {attempt.number} of {attempt.run}")
        other = uids.setdefault(attempt, one.uid)
        if other != one.uid:
            found.append(f"{attempt} was started twice: pods {other} and {one.uid}")
        first = uids.get(Attempt(attempt.campaign, attempt.run, attempt.number - 1))
        if first is not None:
            before = latest[first]
            if before.live and ready.get(before.node, True):
                found.append(f"{attempt} began while {before.name} was live on {before.node}")
    return found


def within_budget(timeline: Timeline) -> list[str]:
    """4. Spend never exceeds budget plus one call per live run.

    The dearest call that a row admits to is its overshoot over its own cap.
    """
    found = []
    for specs in timeline.campaigns().values():
        total = (specs[-1].spec.get("budget") or {}).get("totalUSD")
        if total is None:
            continue
        rows = [row.row for row in timeline.last_rows(specs[-1]).values()]
        spent = sum((_metric(row, "cost_usd") for row in rows), Decimal(0))
        over = sorted((_metric(row, "cost_overshoot_usd") for row in rows), reverse=True)
        live = max(one.parallelism for one in specs)
        allowed = Decimal(str(total)) + sum(over[:live], Decimal(0))
        if spent > allowed:
            found.append(f"{specs[-1].name} spent {spent} of {total} (with last calls {allowed})")
    return found


def _metric(row: Mapping[str, Any], name: str) -> Decimal:
    value = (row.get("metrics") or {}).get(name) or {}
    try:
        return Decimal(str(value.get("value") or 0))
    except InvalidOperation:
        return Decimal(0)


def frozen_stays_frozen(timeline: Timeline) -> list[str]:
    """5. A frozen field cannot change; amendments may only be added."""
    found = []
    for specs in timeline.campaigns().values():
        for old, new in itertools.pairwise(specs):
            if not old.frozen:
                continue
            for name in sorted((set(old.spec) | set(new.spec)) - MUTABLE):
                before, after = old.spec.get(name), new.spec.get(name)
                if name == "protocol":
                    before, after = dict(before or {}), dict(after or {})
                    kept = before.pop("amendments", None) or []
                    grown = after.pop("amendments", None) or []
                    if grown[: len(kept)] != kept:
                        found.append(f"{new.name}: an amendment was changed or removed")
                if before != after:
                    found.append(f"{new.name}: frozen field {name} changed")
    return found


def graded_by_others(timeline: Timeline) -> list[str]:
    """6. A pass is what grader pods found, and they began after the agent's pod had ended."""
    found = []
    graders: dict[Attempt, list[PodSeen]] = {}
    for grader in timeline.pods("grader"):
        if grader.attempt is not None:
            graders.setdefault(grader.attempt, []).append(grader)
    ended: dict[Attempt, float] = {}
    for run_pod in timeline.pods("run"):
        if run_pod.attempt is not None and not run_pod.live:
            ended.setdefault(run_pod.attempt, run_pod.at)
    for uid, specs in timeline.campaigns().items():
        repeats = int((specs[-1].spec.get("checks") or {}).get("repeats", 3))
        for (run, number), row in timeline.last_rows(specs[-1]).items():
            if row.row.get("outcome") != "pass":
                continue
            attempt = Attempt(uid, run, number)
            pods = graders.get(attempt, [])
            passed = {pod.uid for pod in pods if pod.phase == "Succeeded"}
            if len(passed) < repeats:
                found.append(f"{attempt} passed with {len(passed)} of {repeats} grader pods")
    for attempt, pods in graders.items():
        if pods[0].at < ended.get(attempt, float("inf")):
            found.append(f"{attempt} was graded while its agent's pod was live")
    return found


RULES: dict[int, tuple[Callable[[Timeline], list[str]], ...]] = {
    1: (one_row_per_attempt,),
    2: (never_above_parallelism,),
    3: (no_agent_twice,),
    4: (within_budget,),
    5: (frozen_stays_frozen,),
    6: (graded_by_others,),
    7: (secrecy.agents_hold_nothing, secrecy.agents_reach_nothing),
    8: (secrecy.labels_do_not_grow, secrecy.metric_labels_do_not_grow),
}


def judge(timeline: Timeline) -> list[Violation]:
    """All violations of all invariants, and 0 for every gap in the witness's own sight."""
    found = [Violation(0, f"blind at {at:.1f} s: {why}") for at, why in timeline.gaps]
    for number, rules in RULES.items():
        for rule in rules:
            found += [Violation(number, text) for text in rule(timeline)]
    return found
