"""A campaign as the site's protocol page shows it: the spec, and the texts that its pack holds."""

from collections.abc import Callable

from agentbench.cli.analysing import analysis_spec
from agentbench.pack.files import FileRefused, locate
from agentbench.pack.load import Pack
from agentbench.pack.source import read_yaml
from agentbench_analysis.site.benchmarks import benchmarks_from
from agentbench_analysis.site.content import Benchmarks, ProtocolPage
from agentbench_analysis.site.protocol import protocol_page as page_of

BENCHMARKS_FILE = "benchmarks.yaml"
"""The separate table of library benchmarks, where a pack has one."""


Texts = Callable[[str], bytes | None]
"""The bytes of one of the protocol's files; None where there is none."""


def protocol_page(pack: Pack, texts: Texts | None = None) -> ProtocolPage:
    """Everything that the protocol page says; `texts` replaces the pack's folder.

    Raises:
        AnalysisError: the pack's file of library benchmarks is none.
    """
    read = texts or _in_folder(pack)
    text = pack.spec.protocol.text
    return page_of(
        pack.spec.model_dump(mode="json", by_alias=True, exclude_none=True),
        analysis_spec(pack),
        text=_text(read, text) if text else "",
        prompts={task.id: _text(read, task.prompt.path) for task in pack.spec.tasks},
        benchmarks=_benchmarks(pack) if texts is None else None,
    )


def _in_folder(pack: Pack) -> Texts:
    def read(name: str) -> bytes | None:
        try:
            return locate(pack.root, name).read_bytes()
        except (FileRefused, OSError):
            return None

    return read


def _text(read: Texts, name: str) -> str:
    """A text of the pack; empty while it is still to be written."""
    return (read(name) or b"").decode("utf-8", "replace")


def _benchmarks(pack: Pack) -> Benchmarks | None:
    path = pack.root / BENCHMARKS_FILE
    if not path.exists():
        return None
    return benchmarks_from(read_yaml(path, str(path)).data, str(path))
