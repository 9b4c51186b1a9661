"""A page taken apart: its elements, the ids it defines, the addresses it names."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

ADDRESSES = ("href", "src", "action", "data", "poster", "srcset", "formaction", "xlink:href")


@dataclass
class Page(HTMLParser):
    """The start tags of a page, in order, with their attributes."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    @classmethod
    def of(cls, data: bytes) -> "Page":
        page = cls()
        page.feed(data.decode())
        page.close()
        return page

    @property
    def ids(self) -> list[str]:
        return [attrs["id"] or "" for _, attrs in self.tags if "id" in attrs]

    @property
    def addresses(self) -> list[tuple[str, str]]:
        """(tag, address) of everything that the page names."""
        return [
            (tag, value)
            for tag, attrs in self.tags
            for name in ADDRESSES
            if (value := attrs.get(name)) is not None
        ]
