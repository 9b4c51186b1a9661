"""The protocol's Markdown as HTML: no raw HTML, no picture, no link but to the web."""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from agentbench_analysis.site.text import clean

_LINKS = ("https://", "http://", "mailto:", "#")


class _Renderer(RendererHTML):
    """Headings stand below the page's own, wide tables scroll, links tell nobody who follows."""

    def link_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        token = tokens[idx]
        if not str(token.attrs.get("href", "")).startswith("#"):
            token.attrs["rel"] = "noopener noreferrer"
        return self.renderToken(tokens, idx, options, env)

    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        token = tokens[idx]
        token.tag = f"h{min(6, int(token.tag[1:]) + 2)}"
        return self.renderToken(tokens, idx, options, env)

    heading_close = heading_open

    def table_open(self, *_: object) -> str:
        return '<div class="scroll" tabindex="0" role="group" aria-label="table"><table>'

    def table_close(self, *_: object) -> str:
        return "</table></div>\n"


class _Parser(MarkdownIt):
    """A parser for which any other address is no link."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        return url.lower().startswith(_LINKS)


def render(text: str) -> Markup:
    """Return CommonMark with tables as HTML that holds nothing active."""
    parser = _Parser("commonmark", {"html": False}, renderer_cls=_Renderer)
    return Markup(parser.enable("table").disable("image").render(clean(text)))
