"""Pages from templates: everything escaped, nothing that could fetch or run foreign code."""

import json
from collections.abc import Mapping
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from agentbench_analysis.site import formats
from agentbench_analysis.site.figures import interval_text, value_text
from agentbench_analysis.site.markdown import render as markdown
from agentbench_analysis.site.text import clean, line, sentence
from agentbench_analysis.tables.model import readable

# The chart library adds one fixed style element to each picture; its hash lets that one through.
_CHART_STYLE = "'sha256-+TfQir1nvDucAdvE6XUQBt4ayUjpAWkbw2kCdSfekHM='"
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' {_CHART_STYLE}",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
)

_JSON_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028"}


class Renderer:
    """The site's templates, with the names that every page knows."""

    def __init__(self, shared: Mapping[str, object]) -> None:
        self._environment = Environment(
            loader=FunctionLoader(_template),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters.update(
            json=embed,
            markdown=markdown,
            money=formats.money,
            number=formats.number,
            percent=formats.percent,
            duration=formats.duration,
            size=formats.size,
            clock=formats.clock,
            moment=formats.moment,
            oneline=line,
            readable=readable,
            sentence=sentence,
            value=value_text,
            interval=interval_text,
            cleaned=clean,
        )
        self._environment.globals.update(shared, csp=CONTENT_SECURITY_POLICY)

    def share(self, **values: object) -> None:
        """Make values known to every page from here on."""
        self._environment.globals.update(values)

    def page(self, template: str, /, **values: object) -> bytes:
        """Return a page as UTF-8."""
        text = self._environment.get_template(template).render(values)
        return text.encode("utf-8", "replace")


def embed(value: object) -> Markup:
    """Return a value as JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for mark, escaped in _JSON_ESCAPES.items():
        text = text.replace(mark, escaped)
    return Markup(text)


def _template(name: str) -> str:
    return (files("agentbench_analysis.site") / "templates" / name).read_text("utf-8")
