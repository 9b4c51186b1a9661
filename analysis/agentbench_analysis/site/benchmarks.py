"""The table of library benchmarks, from its data file."""

from agentbench_analysis.codec import decode
from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.site.content import Benchmarks

_WEB = ("https://", "http://")


def benchmarks_from(value: object, file: str) -> Benchmarks:
    """Return the table from parsed data; `file` is only for error messages.

    The data is `{"note": text, "packages": [{"package": name, "link": address or null}]}`.

    Raises:
        AnalysisError: a field does not fit, a package stands twice, or a link is not of the web.
    """
    found = decode(Benchmarks, value, file)
    seen: set[str] = set()
    for place, each in enumerate(found.packages):
        if each.link is not None and not each.link.startswith(_WEB):
            raise AnalysisError(
                "is not an address of the web",
                file=file,
                field=f"packages.{place}.link",
                value=each.link,
                cure="Write https://..., or null where there is no benchmark.",
            )
        if each.package in seen:
            raise AnalysisError(
                "is listed twice",
                file=file,
                field=f"packages.{place}.package",
                value=each.package,
                cure="Keep one line per package.",
            )
        seen.add(each.package)
    return found
