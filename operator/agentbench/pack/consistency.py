"""Rules between the fields of a spec: ids that are unique, references that lead somewhere."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentbench.api.campaign import CampaignSpec
from agentbench.core.plan import PlanConflict, plan
from agentbench.pack.problems import Loc, nearest
from agentbench_analysis.campaign import spec_from_campaign
from agentbench_analysis.errors import AnalysisError

LABEL_LENGTH = 63
"""Characters that a Kubernetes label value holds."""

MAX_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class Fault:
    """Fields that do not fit together: where, what, and what to do."""

    loc: Loc
    message: str
    cure: str
    value: str = ""


def faults(spec: CampaignSpec, name: str) -> Iterator[Fault]:
    """Everything in a spec that contradicts itself.

    Args:
        spec: the spec.
        name: the campaign's name.
    """
    found = [*_twice(spec), *_strangers(spec), *_numbering(spec)]
    if not found:
        found = [*_runs(spec), *_analysis(spec, name)]
    yield from found


def _twice(spec: CampaignSpec) -> Iterator[Fault]:
    lists: list[tuple[Loc, str, Sequence[str]]] = [
        (("spec", "tasks"), "id", [task.id for task in spec.tasks]),
        (("spec", "stacks"), "id", [stack.id for stack in spec.stacks]),
        (("spec", "agents"), "id", [agent.id for agent in spec.agents]),
        (("spec", "plugins"), "id", [plugin.id for plugin in spec.plugins]),
        (("spec", "analysis", "hypotheses"), "id", [h.id for h in spec.analysis.hypotheses]),
        (("spec", "analysis", "claims"), "id", [claim.id for claim in spec.analysis.claims]),
        (("spec", "protocol", "openItems"), "id", [item.id for item in spec.protocol.open_items]),
    ]
    for n, stack in enumerate(spec.stacks):
        at: Loc = ("spec", "stacks", n)
        lists.append(((*at, "services"), "name", [service.name for service in stack.services]))
        lists.append(((*at, "lockfiles"), "name", [lockfile.name for lockfile in stack.lockfiles]))
    for loc, key, ids in lists:
        counts = Counter(ids)
        seen: set[str] = set()
        for n, each in enumerate(ids):
            if counts[each] > 1 and each in seen:
                yield Fault(
                    (*loc, n, key), f"the {key} is there twice", "Give each its own.", repr(each)
                )
            seen.add(each)


def _strangers(spec: CampaignSpec) -> Iterator[Fault]:
    stacks = [stack.id for stack in spec.stacks]
    tasks = [task.id for task in spec.tasks]
    hypotheses = [hypothesis.id for hypothesis in spec.analysis.hypotheses]
    named: list[tuple[Loc, str, Sequence[str], str]] = [
        (("spec", "analysis", "referenceStack"), spec.analysis.reference_stack, stacks, "stack")
    ]
    for n, task in enumerate(spec.tasks):
        at: Loc = ("spec", "tasks", n)
        named += [((*at, "seeds", stack), stack, stacks, "stack") for stack in task.seeds]
        named += [((*at, "solutions", stack), stack, stacks, "stack") for stack in task.solutions]
        named += [
            ((*at, "mutants", m, "stack"), mutant.stack, stacks, "stack")
            for m, mutant in enumerate(task.mutants)
        ]
    pairs = [f"{task}/{stack}" for task in tasks for stack in stacks]
    for n, agent in enumerate(spec.agents):
        at = ("spec", "agents", n)
        named += [((*at, "images", stack), stack, stacks, "stack") for stack in agent.images]
        named += [((*at, "scripts", p), p, pairs, "TASK/STACK") for p in agent.scripts]
    for n, claim in enumerate(spec.analysis.claims if hypotheses else ()):
        at = ("spec", "analysis", "claims", n, "needs")
        named += [((*at, m), h, hypotheses, "hypothesis") for m, h in enumerate(claim.needs)]
    for loc, id_, known, kind in named:
        if id_ not in known:
            meant = nearest(id_, known)
            hint = f"Did you mean {meant}?" if meant else f"Known: {', '.join(known) or 'none'}."
            yield Fault(loc, f"no {kind} has this id", hint, repr(id_))


def _numbering(spec: CampaignSpec) -> Iterator[Fault]:
    for n, amendment in enumerate(spec.protocol.amendments):
        if amendment.seq != n + 1:
            yield Fault(
                ("spec", "protocol", "amendments", n, "seq"),
                "amendments are numbered 1, 2, 3, ... in order",
                f"Write seq: {n + 1}.",
                str(amendment.seq),
            )
    order = spec.analysis.cause_order
    if len(set(order)) != len(order):
        yield Fault(("spec", "analysis", "causeOrder"), "a cause is there twice", "Keep one.")


def _runs(spec: CampaignSpec) -> Iterator[Fault]:
    sizes = (len(spec.tasks), len(spec.stacks), len(spec.agents), 2 ** len(spec.plugins))
    cells = 1
    for size in sizes:
        cells *= size
    runs = cells * (spec.repeats + spec.calibration.repeats)
    if runs > MAX_RUNS:
        yield Fault(
            ("spec", "repeats"),
            f"the plan has {runs} runs, and at most {MAX_RUNS} fit",
            "Use fewer repeats or cells.",
        )
        return
    try:
        longest = max((run.id for run in plan(spec)), key=len)
    except PlanConflict as error:
        message, _, cure = str(error).partition("; ")
        yield Fault(("spec", "tasks"), message, f"{cure[:1].upper()}{cure[1:]}.")
        return
    if len(longest) > LABEL_LENGTH:
        yield Fault(
            ("spec", "tasks"),
            f"run id {longest} has {len(longest)} characters, and a Kubernetes label holds "
            f"{LABEL_LENGTH}",
            "Shorten the ids of tasks, stacks, agents or plugins.",
        )


def _analysis(spec: CampaignSpec, name: str) -> Iterator[Fault]:
    """What the analysis itself refuses, found now instead of after the last run."""
    document = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    try:
        spec_from_campaign(document, campaign=name)
    except AnalysisError as error:
        loc = tuple(int(step) if step.isdigit() else step for step in error.field.split("."))
        yield Fault(loc, error.problem, error.cure, error.value)
