"""`results.json` and `verdict.json`, written and read."""

from collections.abc import Iterator
from typing import Any

from agentbench_analysis.codec import decode, document
from agentbench_analysis.errors import AnalysisError, shown
from agentbench_analysis.parsing import load_json
from agentbench_analysis.results.model import RESULTS_SCHEMA, Results, Verdict

RESULTS_FILE = "results.json"
VERDICT_FILE = "verdict.json"


def results_json_pieces(results: Results) -> Iterator[bytes]:
    """The bytes of `results.json`, piece by piece, for campaigns that are large."""
    for piece in document(results):
        yield piece.encode()


def results_json(results: Results) -> bytes:
    """The bytes of `results.json`."""
    return b"".join(results_json_pieces(results))


def verdict_json(verdict: Verdict) -> bytes:
    """The bytes of `verdict.json`."""
    return "".join(document(verdict)).encode()


def read_results(file: str, data: bytes) -> Results:
    """Read `results.json`.

    Raises:
        AnalysisError: cut short, of another schema, or with a field that does not fit.
    """
    parsed: Any = load_json(file, data)
    found = parsed.get("schema") if isinstance(parsed, dict) else None
    if found != RESULTS_SCHEMA:
        raise AnalysisError(
            f"is not a document of {RESULTS_SCHEMA}",
            file=file,
            field="schema",
            value=shown(found),
            cure="Give the results.json that agent-bench wrote.",
        )
    return decode(Results, parsed, file)
