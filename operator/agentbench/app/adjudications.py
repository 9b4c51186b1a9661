"""What people say of runs, kept in the store, where the analysis reads it.

The store never forgets, so what the analysis would refuse is not written: it is named in a
condition until a later entry about the same attempt takes its place.
"""

from datetime import datetime

from agentbench.api.run import AdjudicationEntry
from agentbench.app.held import Held
from agentbench.app.ledger import RunFacts
from agentbench.app.trouble import REST, Trouble
from agentbench.core.digest import canonical
from agentbench.core.keys import adjudication_key
from agentbench.core.record import decode_row
from agentbench.store.port import Conflict
from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.facade import spec_from_campaign
from agentbench_analysis.rows.model import ADJUDICATION_SCHEMA
from agentbench_analysis.sample.scoring import Flagged, judgements
from agentbench_analysis.spec import AnalysisSpec


async def keep_adjudications(held: Held, now: datetime) -> None:
    """Store every adjudication whose row is there; StoreError if the store does not answer."""
    for run in sorted(held.ledger.adjudicated):
        entry = held.ledger.runs.get(run)
        if entry is not None:
            await _keep(held, entry, now)


def adjudication_document(campaign: str, run: str, entry: AdjudicationEntry) -> bytes:
    """An adjudication as the store keeps it."""
    document = {
        "schema": ADJUDICATION_SCHEMA,
        "campaign": campaign,
        "run": run,
        "attempt": entry.attempt,
        "seq": entry.seq,
        "cause": entry.cause.value if entry.cause else None,
        "security": list(entry.security) if entry.security is not None else None,
        "by": entry.by,
        "at": entry.at,
        "reason": entry.reason,
    }
    return canonical(document)


async def _keep(held: Held, run: RunFacts, now: datetime) -> None:
    analysis, troubles = held.analysis, {}
    rows = {attempt.number: attempt.row_key for attempt in run.attempts if attempt.row_key}
    for entry in sorted(run.adjudications, key=lambda each: each.seq):
        key = (run.run, entry.seq)
        row_key = rows.get(entry.attempt)
        if key not in analysis.judged and key not in analysis.refused:
            if row_key is None:
                held.waits[f"{run.run} adjudication"] = (
                    f"{run.run}: adjudication {entry.seq} waits for the row of attempt "
                    f"{entry.attempt}"
                )
                continue
            held.waits.pop(f"{run.run} adjudication", None)
            problem = await held.hands.line.ask(_store, held, run.run, entry, row_key)
            if problem is None:
                analysis.judged.add(key)
            else:
                analysis.refused[key] = problem
        troubles[entry.attempt] = analysis.refused.get(key)  # the last word on an attempt stands
    found = "; ".join(problem for problem in troubles.values() if problem)
    if found:
        trouble = Trouble("AdjudicationRefused", found, now + REST)
        held.troubles[f"{run.run} adjudication"] = trouble
    else:
        held.troubles.pop(f"{run.run} adjudication", None)


def _store(held: Held, run: str, entry: AdjudicationEntry, row_key: str) -> str | None:
    """Store one adjudication, or say why the analysis could not use it."""
    campaign, store = held.campaign, held.hands.line.store
    key = adjudication_key(campaign.name, run, entry.seq)
    content = adjudication_document(campaign.name, run, entry)
    where = f"BenchmarkRun {run}: spec.adjudications, seq {entry.seq}"
    try:
        row = decode_row(store.get(row_key), row_key)
        flags = tuple(flag.assertion for flag in row.security.flags)
        known = {(run, entry.attempt): Flagged(row.outcome, flags)}
        judgements([(where, content)], _analysis_spec(held), known)
        store.create_only(key, content)
    except AnalysisError as error:
        return f"{error} It was not counted: append an entry with the next seq"
    except Conflict:
        return (
            f"{where}: {key} holds another word under this seq, and what is stored never changes; "
            "append an entry with the next seq"
        )
    return None


def _analysis_spec(held: Held) -> AnalysisSpec:
    document = held.campaign.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    return spec_from_campaign(document, campaign=held.campaign.name, file=held.campaign.name)
