"""Published numbers as the pages find and print them."""

from agentbench_analysis.results.model import CellLine, Figure, Results
from agentbench_analysis.site import formats


def value_text(figure: Figure) -> str:
    """A figure's value in its unit."""
    return _shown(figure, figure.value)


def interval_text(figure: Figure) -> str:
    """A figure's interval in its unit; empty where it has none."""
    if figure.lower is None and figure.upper is None and not figure.unbounded:
        return ""
    upper = "∞" if figure.unbounded else _shown(figure, figure.upper)
    if figure.lower is None:
        return f"up to {upper}"
    return f"{_shown(figure, figure.lower)} to {upper}"


def _shown(figure: Figure, value: float | None) -> str:
    if value is None:
        return formats.UNKNOWN
    match figure.unit:
        case "share":
            return formats.percent(value)
        case "difference of shares":
            return formats.points(value)
        case "ratio":
            return formats.number(value, 3)
        case "USD":
            return formats.money(value)
        case "seconds":
            return formats.duration(value)
        case _:
            return formats.number(value, 0 if value == int(value) else 2)


def cell_rate(cell: CellLine) -> str:
    """The id of a cell's pass rate."""
    return "/".join(("pass-rate/cell", cell.task, cell.stack, cell.agent, *cell.plugins))


def medians(results: Results, quantity: str) -> dict[str, Figure]:
    """The medians of `cost` or `time` over passing runs, by stack id."""
    found = {figure.id: figure for figure in results.figures}
    named = {stack.id: f"{quantity}/stack/{stack.id}" for stack in results.spec.stacks}
    return {stack: found[ident] for stack, ident in named.items() if ident in found}
