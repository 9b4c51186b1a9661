"""The frozen choices, read from a campaign's spec as people write it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentbench_analysis.door import Door
from agentbench_analysis.rows.words import Cause
from agentbench_analysis.spec import (
    AMENDABLE,
    Amendment,
    AnalysisSpec,
    BestOther,
    Caps,
    Claim,
    Effect,
    Factor,
    Hypothesis,
    Margins,
    QuantileRule,
    Rule,
)

_EFFECT = re.compile(r"set analysis\.(?P<field>[A-Za-z.]+) = (?P<value>\S+)")


def spec_from_campaign(
    spec: Mapping[str, Any], *, campaign: str, file: str = "campaign.yaml"
) -> AnalysisSpec:
    """The frozen choices of a campaign, from its spec as plain data (camelCase names).

    `campaign` is the campaign's name, as its rows carry it; `file` is only for error messages.

    Raises:
        AnalysisError: a choice is missing or has an impossible value.
    """
    door = Door(spec, file, "spec")
    protocol, analysis, caps = door.child("protocol"), door.child("analysis"), door.child("caps")
    stacks = _factors(door, "stacks", 1)
    reference = analysis.text("referenceStack", stacks[0].id)
    if reference not in {stack.id for stack in stacks}:
        raise analysis.refuse("referenceStack", "names no stack", "Use the id of one stack.")
    names = {stack.id: stack.name for stack in stacks}
    margins = analysis.child("margins")
    choices = Margins(
        pass_rate=margins.number("passRate", -0.10),
        cost=margins.number("cost", 0.85),
        time=margins.number("time", 1.00),
    )
    confidence = analysis.number("confidence", 0.95)
    if not 0.5 < confidence < 1:
        raise analysis.refuse("confidence", "is not between 0.5 and 1", "Write 0.95, say.")
    hypotheses = _hypotheses(analysis, names[reference], choices)
    budget = door.child("budget")
    return AnalysisSpec(
        protocol=protocol.text("id"),
        campaign=campaign,
        digest=protocol.child("freeze").value.get("digest"),
        draft=bool(protocol.value.get("draft", False)),
        tasks=_factors(door, "tasks", 1),
        stacks=stacks,
        agents=_factors(door, "agents", 1),
        plugins=_factors(door, "plugins", 0),
        repeats=door.count("repeats"),
        caps=Caps(
            wall_seconds=caps.seconds("wall"),
            cost_usd=caps.number("costUSD"),
            tool_calls=caps.count("toolCalls"),
            interventions=int(caps.number("interventions", 3)),
        ),
        budget_usd=budget.number("totalUSD") if "totalUSD" in budget.value else None,
        resamples=analysis.count("resamples", 10_000),
        seed=int(analysis.number("seed", 0)),
        confidence=confidence,
        margins=choices,
        best_other=analysis.word("bestOther", BestOther, "perResample"),
        quantile=analysis.word("quantile", QuantileRule, "linear"),
        cause_order=_causes(analysis),
        reference=reference,
        harness_authors=tuple(protocol.value.get("harnessAuthors") or ()),
        hypotheses=hypotheses,
        claims=_claims(analysis, hypotheses, names[reference], choices),
        headline=analysis.text("headline", "") or f"{names[reference]} is better for agents",
        amendments=tuple(_amendment(each) for each in protocol.children("amendments")),
    )


def _factors(door: Door, key: str, least: int) -> tuple[Factor, ...]:
    found = door.children(key)
    if len(found) < least:
        raise door.refuse(key, f"needs {least} or more", "List them, each with an id and a name.")
    factors: list[Factor] = []
    for each in found:
        ident = each.text("id")
        if ident in {factor.id for factor in factors}:
            raise each.refuse("id", "is used twice", "Ids never repeat.")
        label = each.child("verification").value.get("text")
        factors.append(
            Factor(
                id=ident,
                name=each.text("name", ident),
                label=label if isinstance(label, str) else None,
            )
        )
    return tuple(factors)


def _causes(analysis: Door) -> tuple[Cause, ...]:
    given = analysis.value.get("causeOrder")
    if given is None:
        return tuple(Cause)
    if not isinstance(given, list | tuple) or sorted(map(str, given)) != sorted(Cause):
        raise analysis.refuse(
            "causeOrder",
            "is not an order of the five causes",
            f"List each of these once: {', '.join(Cause)}.",
        )
    return tuple(Cause(word) for word in given)


def percent(share: float) -> str:
    """A share as people read it: `10` for 0.1."""
    return f"{round(abs(share) * 100, 6):g}"


def _hypotheses(analysis: Door, name: str, margins: Margins) -> tuple[Hypothesis, ...]:
    given = analysis.children("hypotheses")
    saving = percent(1 - margins.cost)
    words = {
        Rule.PASS: f"The pass rate on {name} is not lower than on the best other stack.",
        Rule.COST: f"The median cost per passing run on {name} is at least {saving} % lower.",
        Rule.TIME: f"The median time per passing run on {name} is not higher.",
        Rule.SECURITY: f"{name} has zero critical security failures.",
    }
    if not given:
        return tuple(
            Hypothesis(id=f"AB-H{place}", rule=rule, statement=words[rule])
            for place, rule in enumerate(Rule, start=1)
        )
    found = []
    for each in given:
        rule = each.word("rule", Rule, None)
        found.append(
            Hypothesis(id=each.text("id"), rule=rule, statement=each.text("text", words[rule]))
        )
    return tuple(found)


def _claims(
    analysis: Door, hypotheses: tuple[Hypothesis, ...], name: str, margins: Margins
) -> tuple[Claim, ...]:
    given = analysis.children("claims")
    known = {each.id for each in hypotheses}
    if given:
        claims = []
        for each in given:
            needs = tuple(each.value.get("needs") or ())
            if not needs or not set(needs) <= known:
                raise each.refuse(
                    "needs",
                    "names no hypothesis of this campaign",
                    f"Use ids of: {', '.join(sorted(known))}.",
                )
            claims.append(
                Claim(id=each.text("id"), hypotheses=needs, statement=each.text("text", ""))
            )
        return tuple(claims)
    words = (
        (Rule.PASS, f"Task success on {name} is no worse than the best other stack."),
        (Rule.SECURITY, f"Zero critical security failures on {name}."),
        (
            Rule.COST,
            f"Median cost per successful task on {name} is at least {percent(1 - margins.cost)} % "
            "lower than the best other stack, and the interval supports it.",
        ),
    )
    by_rule = {each.rule: each.id for each in hypotheses}
    return tuple(
        Claim(id=f"AB-C{place}", hypotheses=(by_rule[rule],), statement=statement)
        for place, (rule, statement) in enumerate(words, start=1)
        if rule in by_rule
    )


def _amendment(door: Door) -> Amendment:
    note = door.text("effects", "")
    return Amendment(
        seq=door.count("seq"),
        date=door.text("date"),
        change=door.text("change"),
        why=door.text("why"),
        any_run_started=bool(door.value.get("anyRunStarted", False)),
        effects=tuple(_effects(door, note)),
        note=note,
    )


def _effects(door: Door, note: str) -> Iterator[Effect]:
    """The lines of an amendment's effects that say `set analysis.margins.cost = 0.90`."""
    for line in note.splitlines():
        match = _EFFECT.fullmatch(line.strip())
        if match is None:
            continue
        if match["field"] not in AMENDABLE:
            raise door.refuse(
                "effects",
                f"sets analysis.{match['field']}, which no amendment can set",
                f"Fields of `analysis` that can be set: {', '.join(AMENDABLE)}.",
            )
        yield Effect(field=match["field"], value=match["value"])
