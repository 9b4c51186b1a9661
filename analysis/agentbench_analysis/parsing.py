"""Bytes to plain values: JSON, read strictly."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.names import Wrong

Read = Callable[[bytes], Any]
"""A parser of JSON: bytes to plain values, ValueError for what is no JSON document."""


def _refuse_constant(text: str) -> NoReturn:
    raise Wrong("is not a number that JSON knows", text, "Write a finite number, or null.")


_READ = json.JSONDecoder(parse_constant=_refuse_constant)


def load_json(file: str, data: bytes, read: Read | None = None) -> Any:
    """Parse one JSON document; `file` is only for the error message.

    `read` may be a faster parser. What it refuses with ValueError is parsed once more by the
    standard library's, which alone says what is wrong.

    Raises:
        AnalysisError: not UTF-8, not JSON, cut short, or with NaN or Infinity in it.
    """
    if read is not None:
        with suppress(ValueError):
            return read(data)
    try:
        return _READ.decode(data.decode())
    except UnicodeDecodeError as error:
        raise AnalysisError(
            "is not UTF-8",
            file=file,
            value=f"byte {error.start}",
            cure="Fetch the file again; JSON documents are UTF-8.",
        ) from error
    except json.JSONDecodeError as error:
        raise AnalysisError(
            f"is not whole JSON: {error.msg}",
            file=file,
            field=f"line {error.lineno}, column {error.colno}",
            cure="The file is cut short or edited: fetch it again, or write it again.",
        ) from error
    except Wrong as error:
        raise AnalysisError(error.problem, file=file, value=error.value, cure=error.cure) from error
