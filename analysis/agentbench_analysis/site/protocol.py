"""The protocol page's content, from a campaign's spec as people write it."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentbench_analysis.rows.words import SecurityKind
from agentbench_analysis.site import formats
from agentbench_analysis.site.content import (
    Agent,
    Amendment,
    Benchmarks,
    Entry,
    ProtocolPage,
    Stack,
    Task,
)
from agentbench_analysis.spec import AnalysisSpec

Tree = Mapping[str, Any]


def protocol_page(
    spec: Tree,
    analysis: AnalysisSpec,
    *,
    text: str = "",
    prompts: Mapping[str, str] | None = None,
    benchmarks: Benchmarks | None = None,
) -> ProtocolPage:
    """Return what the site says of a protocol.

    `spec` is the campaign's spec as plain data (camelCase names, already validated), `analysis`
    the frozen choices read from it, `text` the full protocol in Markdown, `prompts` the tasks'
    words by task id.
    """
    protocol = _tree(spec, "protocol")
    freeze = _tree(protocol, "freeze")
    tasks = _trees(spec, "tasks")
    reference = analysis.reference_name
    return ProtocolPage(
        id=analysis.protocol,
        title=str(protocol.get("title") or "Agent benchmark"),
        claim=(
            f"We test one claim: {analysis.headline}. {_counted(len(tasks), 'task')} on "
            f"{_counted(len(analysis.stacks), 'stack')} with "
            f"{_counted(len(analysis.agents), 'agent')}, judged by rules that were written down "
            "before the first run."
        ),
        claim_rule=(
            f"“{analysis.headline}” may be said only if all of these hold. If any fails, the "
            "results are published all the same, and that headline is dropped."
        ),
        digest=analysis.digest or "",
        frozen_at=str(freeze.get("frozenAt") or ""),
        commit=str(freeze.get("commit") or ""),
        draft=analysis.draft,
        conditions=tuple(Entry(id=each.id, text=each.statement) for each in analysis.claims),
        hypotheses=tuple(Entry(id=each.id, text=each.statement) for each in analysis.hypotheses),
        plan=_plan(spec, analysis),
        stacks=tuple(_stack(each, analysis.reference) for each in _trees(spec, "stacks")),
        agents=tuple(_agent(each) for each in _trees(spec, "agents")),
        tasks=tuple(_task(each, prompts or {}) for each in tasks),
        open_items=tuple(
            Entry(id=str(each.get("id")), text=str(each.get("text")))
            for each in _trees(protocol, "openItems")
            if not each.get("resolution")
        ),
        security_checks=tuple(kind.value for kind in SecurityKind)
        if _tree(spec, "checks").get("security")
        else (),
        amendments=tuple(
            Amendment(
                seq=each.seq,
                date=each.date,
                change=each.change,
                why=each.why,
                any_run_started=each.any_run_started,
                effects=each.note,
            )
            for each in analysis.amendments
        ),
        limits=study_limits(analysis, reference),
        text=text,
        benchmarks=benchmarks or Benchmarks(),
    )


def study_limits(analysis: AnalysisSpec, reference: str) -> tuple[str, ...]:
    """The limits that follow from the design itself."""
    agents, tasks = len(analysis.agents), len(analysis.tasks)
    return (
        f"{_counted(agents, 'agent').capitalize()}, each with one pinned model: nothing is said of "
        "other agents or models.",
        f"{_counted(tasks, 'task').capitalize()}: a stack may do better or worse on others.",
        "One class of machine, one set of caps: a run with more time or money might have ended "
        "otherwise.",
        "Models are sampled at the vendor's defaults, without seed control. The protocol can be "
        "repeated; a single run cannot.",
        f"{analysis.repeats} runs per cell: with so few, an interval from resampling is somewhat "
        "narrower than it claims, and a cell in which all runs agree shows no spread at all.",
        "Only the hypotheses are tested. Tables per task and per agent are descriptive; no claim "
        "is drawn from them.",
        f"“Not shown” does not mean that {reference} is worse: it means that these runs do not "
        "show that the condition holds.",
    )


def _plan(spec: Tree, analysis: AnalysisSpec) -> tuple[Entry, ...]:
    caps, budget = analysis.caps, analysis.budget_usd
    factors = [
        _counted(len(analysis.tasks), "task"),
        _counted(len(analysis.stacks), "stack"),
        _counted(len(analysis.agents), "agent"),
    ]
    if analysis.plugins:
        factors.append(_counted(len(analysis.plugin_sets), "plugin set"))
    calibration = _tree(spec, "calibration").get("repeats") or 0
    reply = _tree(spec, "script").get("reply") or "Use your best judgement."
    checks = _tree(spec, "checks").get("repeats") or 3
    seed = _tree(spec, "order").get("seed")
    lines = [
        ("Cells", f"{' x '.join(factors)} = {analysis.planned_cells}"),
        ("Repeats per cell", str(analysis.repeats)),
        (
            "Total runs",
            f"{analysis.planned_runs}."
            + (" A calibration batch is separate and left out." if calibration else ""),
        ),
        ("Order", f"Fully randomised by the recorded seed {seed}, settled before any run."),
        ("Wall time cap", f"{_minutes(caps.wall_seconds)} per run"),
        (
            "Cost cap",
            f"{formats.money(caps.cost_usd)} of model calls per run: measured tokens times a "
            "price list that is part of the freeze",
        ),
        ("Tool-call cap", f"{caps.tool_calls} per run"),
        (
            "Human feedback",
            f"The same script on every run. The only human message is the reply to a blocking "
            f"question: “{reply}” Each one counts as an intervention; a run with more than "
            f"{caps.interventions} fails.",
        ),
        ("Pass", f"The task's check passes {checks} times out of {checks} on the final state."),
    ]
    if budget is not None:
        lines.append(("Total budget", f"Model calls for at most {formats.money(budget)}."))
    return tuple(Entry(id=term, text=text) for term, text in lines)


def _stack(tree: Tree, reference: str) -> Stack:
    files = [str(each) for each in tree.get("contextFiles") or ()]
    verification = _tree(tree, "verification")
    return Stack(
        id=str(tree.get("id")),
        name=str(tree.get("name")),
        start=" ".join(
            part
            for part in (str(tree.get("version") or ""), str(verification.get("text") or ""))
            if part
        ),
        context_files=", ".join(files) or "none",
        reference=tree.get("id") == reference,
    )


def _agent(tree: Tree) -> Agent:
    verification = _tree(tree, "verification")
    return Agent(
        id=str(tree.get("id")),
        name=f"{tree.get('name')} {tree.get('version') or ''}".strip(),
        model=str(tree.get("model") or ""),
        verified=verification.get("status") == "verified",
        verification=str(verification.get("text") or "Nobody has said how the pin was checked."),
    )


def _task(tree: Tree, prompts: Mapping[str, str]) -> Task:
    ident = str(tree.get("id"))
    return Task(
        id=ident,
        summary=str(tree.get("name")),
        start="the stack's generator" if tree.get("generate") else "a frozen start state per stack",
        check=str(_tree(tree, "check").get("path") or ""),
        prompt=prompts.get(ident, ""),
    )


def _minutes(seconds: float) -> str:
    if seconds % 60:
        return formats.duration(seconds)
    return _counted(int(seconds // 60), "minute")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _tree(tree: Tree, key: str) -> Tree:
    found = tree.get(key)
    return found if isinstance(found, Mapping) else {}


def _trees(tree: Tree, key: str) -> list[Tree]:
    found = tree.get(key)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [each for each in found if isinstance(each, Mapping)]
