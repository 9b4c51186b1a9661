"""A faster parser of JSON changes how long reading takes, and nothing else."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.rows import a_row, row_document

from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.parsing import load_json
from agentbench_analysis.rows.read import parse_row

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(plain)
def test_both_parsers_read_the_same_of_every_document(document: Any) -> None:
    data = json.dumps(document).encode()
    fast, slow = load_json("x", data, orjson.loads), load_json("x", data)
    assert (fast, repr(fast)) == (slow, repr(slow))


@pytest.mark.parametrize(
    "data", [b'{"a": NaN}', b'{"a": 1', b"\xff", b"", b'{"a": Infinity}', b"{'a': 1}"]
)
def test_what_is_no_json_is_refused_in_the_same_words(data: bytes) -> None:
    with pytest.raises(AnalysisError) as fast:
        load_json("row.json", data, orjson.loads)
    with pytest.raises(AnalysisError) as slow:
        load_json("row.json", data)
    assert str(fast.value) == str(slow.value)


def test_a_row_is_the_same_row() -> None:
    name, data = row_document(a_row("AB-T01", "S1", "A1", 1, passed=False))
    assert parse_row(name, data, read=orjson.loads) == parse_row(name, data)
