"""The published JSON Schemas: no drift, and everything that is written fits them."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scripts.analysis_schemas import FOLDER, schemas
from tests.analysis.golden.generate import HERE
from tests.fakes.rows import a_row, a_spec, row_documents

from agentbench_analysis.facade import as_json, metrics_run, power


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((FOLDER / f"{name}.schema.json").read_text()))


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def test_the_committed_schemas_are_those_of_the_code() -> None:
    stored = {path.name: path.read_bytes() for path in FOLDER.glob("*.schema.json")}
    assert stored == schemas(), "run python -m scripts.analysis_schemas"


@pytest.mark.parametrize("name", ["results", "verdict"])
def test_what_is_published_fits_its_schema(name: str) -> None:
    document = json.loads((HERE / "published" / f"{name}.json").read_text())
    validator(name).validate(document)


@pytest.mark.parametrize(
    ("name", "file"), [("row", "rows.jsonl"), ("adjudication", "adjudications.jsonl")]
)
def test_what_is_read_fits_its_schema(name: str, file: str) -> None:
    check = validator(name)
    for document in lines(file):
        check.validate(document)


def test_metrics_power_and_assumptions_fit_their_schemas() -> None:
    report = metrics_run(row_documents([a_row()]), row_documents([a_row()]))
    validator("metrics").validate(json.loads("".join(as_json(report))))
    stack = {"pass": 0.7, "costMedian": 1.0, "timeMedian": 600.0}
    assumed = {"stacks": {f"AB-S{n}": stack for n in (1, 2, 3)}, "campaigns": 2, "resamples": 20}
    validator("assumptions").validate(assumed)
    spec = a_spec(tasks=[{"id": "AB-T01", "name": "One"}])
    found = json.loads("".join(as_json(power(spec, assumed, seed=1))))
    validator("power").validate(found)


def test_a_schema_refuses_an_unknown_field_and_a_missing_one() -> None:
    check = validator("row")
    assert not check.is_valid(a_row(score=1))
    row = a_row()
    del row["digest"]
    assert not check.is_valid(row)
