"""All hypotheses and claims: under the frozen rules, and under amended ones beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentbench_analysis.results.model import (
    Attempt,
    ClaimFinding,
    Decision,
    Figure,
    Finding,
    Verdict,
)
from agentbench_analysis.sample.cells import Sample
from agentbench_analysis.spec import AnalysisSpec, Hypothesis, Rule
from agentbench_analysis.verdict.ground import Ground, Ruling
from agentbench_analysis.verdict.pass_rate import decide_pass_rate
from agentbench_analysis.verdict.ratio import Medians, decide_ratio, medians_of
from agentbench_analysis.verdict.security import decide_security


@dataclass(frozen=True, slots=True)
class Decided:
    """The verdict, every number behind it, and the medians that tables print too."""

    verdict: Verdict
    figures: tuple[Figure, ...]
    medians: dict[Rule, Medians]


def rules_in_force(spec: AnalysisSpec) -> tuple[AnalysisSpec, AnalysisSpec | None]:
    """The rules that decide, and the amended ones that are printed beside them, if any.

    An amendment from before the first run is part of the rules. One from after it changes
    nothing that was seen: the old rule decides, and both results are published.
    """
    before = spec
    for amendment in spec.amendments:
        if not amendment.any_run_started:
            for effect in amendment.effects:
                before = before.with_effect(effect)
    after = before
    for amendment in spec.amendments:
        if amendment.any_run_started:
            for effect in amendment.effects:
                after = after.with_effect(effect)
    return before, None if after == before else after


def decide_all(spec: AnalysisSpec, sample: Sample, attempts: Sequence[Attempt]) -> Decided:
    """Decide every hypothesis and claim of a campaign."""
    frozen, amended = rules_in_force(spec)
    findings, figures, medians = _findings(Ground(frozen, sample, attempts))
    claims = _claims(frozen, findings)
    headline = together([each.decision for each in claims])
    if amended is not None:
        more, extra, _ = _findings(Ground(amended, sample, attempts, "amended"))
        touched = _touched(findings, figures, more, extra)
        claims = (
            *claims,
            *(each for each in _claims(amended, more) if touched.intersection(each.hypotheses)),
        )
        more = tuple(each for each in more if each.hypothesis in touched)
        kept = {ident for each in more for ident in each.figures}
        findings = (*findings, *more)
        figures = (*figures, *(each for each in extra if each.id in kept))
    scored = sum(cell.line.scored for cell in sample.cells)
    verdict = Verdict(
        protocol=spec.protocol,
        campaign=spec.campaign,
        digest=spec.digest,
        draft=spec.draft,
        claim=spec.headline,
        headline=headline,
        complete=scored == spec.planned_runs and not any(each.unjudged for each in attempts),
        scored_runs=scored,
        planned_runs=spec.planned_runs,
        findings=findings,
        claims=claims,
        notes=_notes(spec, scored, amended is not None),
    )
    return Decided(verdict, figures, medians)


def _findings(
    ground: Ground,
) -> tuple[tuple[Finding, ...], tuple[Figure, ...], dict[Rule, Medians]]:
    medians = medians_of(ground)
    rulings = [_decide(ground, each, medians) for each in ground.spec.hypotheses]
    findings = tuple(each.finding for each in rulings)
    return findings, tuple(number for each in rulings for number in each.figures), medians


def _touched(
    frozen: Sequence[Finding],
    frozen_figures: Sequence[Figure],
    amended: Sequence[Finding],
    amended_figures: Sequence[Figure],
) -> set[str]:
    """The hypotheses whose rule or numbers an amendment changed."""

    def numbers(finding: Finding, figures: Sequence[Figure]) -> list[tuple[object, ...]]:
        mine = set(finding.figures)
        return [(e.value, e.lower, e.upper, e.method) for e in figures if e.id in mine]

    return {
        new.hypothesis
        for old, new in zip(frozen, amended, strict=True)
        if old.condition != new.condition
        or numbers(old, frozen_figures) != numbers(new, amended_figures)
    }


def _decide(ground: Ground, hypothesis: Hypothesis, medians: dict[Rule, Medians]) -> Ruling:
    match hypothesis.rule:
        case Rule.PASS:
            return decide_pass_rate(ground, hypothesis)
        case Rule.SECURITY:
            return decide_security(ground, hypothesis)
        case rule:
            return decide_ratio(ground, hypothesis, medians[rule])


def _claims(spec: AnalysisSpec, findings: Sequence[Finding]) -> tuple[ClaimFinding, ...]:
    by_id = {each.hypothesis: each for each in findings}
    found = []
    for claim in spec.claims:
        needs = [by_id[ident] for ident in claim.hypotheses]
        decision = together([each.decision for each in needs])
        found.append(
            ClaimFinding(
                claim=claim.id,
                statement=claim.statement,
                rules=findings[0].rules,
                decision=decision,
                hypotheses=claim.hypotheses,
                reasons=tuple(
                    f"{each.hypothesis}: {reason}" for each in needs for reason in each.reasons
                ),
                incomplete=any(each.incomplete for each in needs),
            )
        )
    return tuple(found)


def together(decisions: Sequence[Decision]) -> Decision:
    """What may be said of several conditions together."""
    if not decisions:
        return Decision.NOT_COMPUTABLE
    if Decision.NOT_SHOWN in decisions:
        return Decision.NOT_SHOWN
    if Decision.NOT_COMPUTABLE in decisions:
        return Decision.NOT_COMPUTABLE
    return Decision.HOLDS


def _notes(spec: AnalysisSpec, scored: int, amended: bool) -> tuple[str, ...]:
    notes = []
    if scored < spec.planned_runs:
        notes.append(f"{scored} of {spec.planned_runs} planned runs are scored")
    if spec.draft:
        notes.append("a draft: no verdict is given")
    if amended:
        notes.append(
            "an amendment changed a rule after runs had begun: the old rule decides, and the "
            "amended one is printed beside it"
        )
    return tuple(notes)
