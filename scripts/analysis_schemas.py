"""Write the JSON Schemas of what the analysis reads and publishes.

    python -m scripts.analysis_schemas

writes `docs/schemas/*.schema.json`; a test fails while they differ from the code.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from agentbench_analysis.catalog.aggregate import MetricsReport
from agentbench_analysis.names import camel
from agentbench_analysis.power.assumptions import Assumptions
from agentbench_analysis.power.model import Power
from agentbench_analysis.results.model import Results, Verdict
from agentbench_analysis.rows.model import Adjudication, Row

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"
KINDS: dict[str, Any] = {
    "row": Row,
    "adjudication": Adjudication,
    "results": Results,
    "verdict": Verdict,
    "metrics": MetricsReport,
    "assumptions": Assumptions,
    "power": Power,
}


def schemas() -> dict[str, bytes]:
    """Every schema, by file name."""
    return {f"{name}.schema.json": _bytes(kind) for name, kind in KINDS.items()}


def _bytes(kind: Any) -> bytes:
    schema = _camel(TypeAdapter(kind).json_schema())
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode()


def _camel(node: Any) -> Any:
    """The same schema with the JSON names of fields, and no field but the known ones."""
    if isinstance(node, list):
        return [_camel(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: _camel(value) for key, value in node.items() if key != "default"}
    if isinstance(node.get("properties"), dict):
        found["properties"] = {
            camel(name): _field(value) for name, value in node["properties"].items()
        }
        found["required"] = [camel(name) for name in node.get("required", ())]
        found["additionalProperties"] = False
    return found


def _field(node: Any) -> Any:
    return {key: value for key, value in _camel(node).items() if key != "title"}


def main() -> None:
    """Write every schema."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in schemas().items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
