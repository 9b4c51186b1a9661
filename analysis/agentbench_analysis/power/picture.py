"""The power of a design as a picture: chance to hold by repeats per cell."""

from html import escape

from agentbench_analysis.power.model import CurvePoint, Power

WIDTH, HEIGHT = 720, 380
LEFT, TOP, RIGHT, BOTTOM = 64, 48, 150, 52
LABEL = 110  # width of a line's name
COLOURS = ("#0b6e99", "#b3560b", "#4c7a34", "#7a3b8f", "#555555")
MARKS = ("circle", "square", "diamond", "triangle", "circle")

CORNERS: dict[str, tuple[tuple[int, int], ...]] = {
    "diamond": ((0, -5), (5, 0), (0, 5), (-5, 0)),
    "triangle": ((0, -5), (5, 4), (-5, 4)),
}


def power_svg(power: Power) -> bytes:
    """An SVG line chart with a text alternative; it needs no script and no other file."""
    repeats = sorted({each.repeats for each in power.curve})
    text = " ".join(power.statements)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="t d" font-family="sans-serif" font-size="13">',
        f'<title id="t">Chance to hold by repeats per cell, {escape(power.protocol)}</title>',
        f'<desc id="d">{escape(text)}</desc>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="24" font-size="16" fill="#111111">Chance to hold by repeats per '
        f"cell, {escape(power.protocol)}</text>",
        *_grid(repeats),
    ]
    names = list(dict.fromkeys(each.hypothesis for each in power.curve))
    labels: list[tuple[float, float]] = []
    for place, name in enumerate(names):
        mine = [each for each in power.curve if each.hypothesis == name]
        parts += _line(name, mine, repeats, place, labels)
    parts.append("</svg>\n")
    return "\n".join(parts).encode()


def _x(repeats: int, ticks: list[int]) -> float:
    """Repeats are spaced evenly, since they grow faster and faster."""
    step = (WIDTH - LEFT - RIGHT) / max(1, len(ticks) - 1)
    return LEFT + ticks.index(repeats) * step


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _grid(ticks: list[int]) -> list[str]:
    right = WIDTH - RIGHT
    parts = []
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        wanted = share == 0.8
        dash = ' stroke-dasharray="6 4"' if wanted else ""
        colour = "#333333" if wanted else "#dddddd"
        y = _y(share)
        parts.append(
            f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}"{dash}/>'
        )
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#333333">'
            f"{share * 100:.0f} %</text>"
        )
    for tick in ticks:
        parts.append(
            f'<text x="{_x(tick, ticks):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" '
            f'fill="#333333">{tick}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle" fill="#333333">'
        "repeats per cell (dashed: 80 %)</text>"
    )
    return parts


def _line(
    name: str,
    points: list[CurvePoint],
    ticks: list[int],
    place: int,
    labels: list[tuple[float, float]],
) -> list[str]:
    colour = COLOURS[place % len(COLOURS)]
    spots = [(_x(each.repeats, ticks), _y(each.holds)) for each in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    parts += [_mark(x, y, MARKS[place % len(MARKS)], colour) for x, y in spots]
    x, y = spots[-1]
    while any(abs(x - left) < LABEL and abs(y - top) < 15 for left, top in labels):
        y += 15
    labels.append((x, y))
    parts.append(
        f'<text x="{x + 10:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(name)} '
        f"{points[-1].holds * 100:.0f} %</text>"
    )
    return parts


def _mark(x: float, y: float, kind: str, colour: str) -> str:
    """Each line has a mark of its own, so that colour is not all that tells them apart."""
    if kind == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>'
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in CORNERS[kind])
    return f'<polygon points="{path}" fill="{colour}"/>'
