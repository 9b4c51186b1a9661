"""How some runs differ from a baseline: success, speed, tokens.

A faster or cheaper variant is not a better one: the success difference stands beside the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from agentbench_analysis.codec import settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """One comparison with the baseline.

    `value` is None where a side has no value, and `note` says which; `absolute` says that it is
    variant minus baseline, for a ratio to zero has no meaning.
    """

    name: str
    formula: str
    value: float | None
    absolute: bool
    note: str


def deltas(
    variant: Mapping[str, float | None], baseline: Mapping[str, float | None]
) -> tuple[Delta, ...]:
    """The three comparisons, from metric means by name."""
    return (
        _delta("delta_success", "success", variant, baseline),
        _delta("speedup", "agent_seconds", variant, baseline),
        _delta("token_saving", "tokens", variant, baseline),
    )


_FORMULA = {
    "delta_success": "success_variant - success_baseline",
    "speedup": "time_baseline / time_variant",
    "token_saving": "1 - tokens_variant / tokens_baseline",
}


def _delta(
    name: str,
    metric: str,
    variants: Mapping[str, float | None],
    baselines: Mapping[str, float | None],
) -> Delta:
    variant, baseline = variants.get(metric), baselines.get(metric)
    if variant is None or baseline is None:
        silent = [
            side
            for side, value in (("the variant", variant), ("the baseline", baseline))
            if value is None
        ]
        note = f"{' and '.join(silent)} reported no {metric}"
        return Delta(name=name, formula=_FORMULA[name], value=None, absolute=False, note=note)
    difference = settled(variant - baseline)
    if name == "delta_success":
        return Delta(name=name, formula=_FORMULA[name], value=difference, absolute=True, note="")
    divisor = variant if name == "speedup" else baseline
    if baseline == 0 or divisor == 0:
        side = "baseline" if baseline == 0 else "variant"
        note = f"the {side}'s {metric} is zero: variant minus baseline instead of a ratio"
        return Delta(name=name, formula=_FORMULA[name], value=difference, absolute=True, note=note)
    ratio = baseline / variant if name == "speedup" else 1 - variant / baseline
    return Delta(name=name, formula=_FORMULA[name], value=settled(ratio), absolute=False, note="")
