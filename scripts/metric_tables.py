"""Write the tables of `docs/monitoring.md` that follow from code.

    python -m scripts.metric_tables

A test fails while they differ: every metric of the operator, and the query that gives each metric
of the catalog's groups efficiency and reliability.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from agentbench.app.metric_list import (
    FLAGGED,
    FLAGS,
    MEANS,
    OF_ATTEMPTS,
    OF_CAMPAIGNS,
    OF_OPERATOR,
    TOKEN_KINDS,
    TOKENS,
    Kind,
    Spec,
)

PAGE = Path(__file__).parents[1] / "docs/monitoring.md"
_BY = "sum by (stack, agent)"


def catalog_queries() -> dict[str, str]:
    """The query of each metric of the catalog, by stack and agent, by its name there."""
    found = {spec.catalog: _mean(spec.name) for spec in MEANS}
    found |= {kind: _mean(TOKENS.name, f'{{kind="{kind}"}}') for kind in TOKEN_KINDS}
    found["tokens"] = (
        f'{_BY} ({TOKENS.name}_sum{{kind!="reasoning"}})'
        f' / {_BY} ({TOKENS.name}_count{{kind="output"}})'
    )
    for flag in FLAGGED:
        both = f'{FLAGS.name}{{flag="{flag}"}}'
        yes = f'{FLAGS.name}{{flag="{flag}",value="yes"}}'
        found[flag] = f"{_BY} ({yes} or 0 * {both}) / {_BY} ({both})"
    return found


def _mean(name: str, where: str = "") -> str:
    return f"{_BY} ({name}_sum{where}) / {_BY} ({name}_count{where})"


def _table(specs: tuple[Spec, ...]) -> Iterator[str]:
    yield "| metric | type | labels | says | after a restart |"
    yield "|---|---|---|---|---|"
    for spec in specs:
        labels = ", ".join(f"`{label}`" for label in spec.labels)
        counts = spec.kind not in (Kind.GAUGE, Kind.INFO)
        again = ("the same" if spec.kept else "from zero") if counts else "set again"
        yield f"| `{spec.name}` | {spec.kind} | {labels} | {spec.says} | {again} |"


def sections() -> dict[str, str]:
    """Each generated part of the page, by its mark."""
    queries = (f"| `{name}` | `{query}` |" for name, query in sorted(catalog_queries().items()))
    return {
        "campaigns": "\n".join(_table(OF_CAMPAIGNS)),
        "attempts": "\n".join(_table(OF_ATTEMPTS)),
        "operator": "\n".join(_table(OF_OPERATOR)),
        "catalog": "\n".join(("| catalog | query |", "|---|---|", *queries)),
    }


def page(text: str) -> str:
    """The page with its generated parts made again."""
    for mark, table in sections().items():
        found = re.search(rf"(?<=<!-- {mark} -->\n).*?(?=\n<!-- end -->)", text, re.S)
        if found is None:
            raise ValueError(f"{PAGE}: there is no part between <!-- {mark} --> and <!-- end -->")
        text = text[: found.start()] + table + text[found.end() :]
    return text


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
