"""Requests and answers: JSON in, JSON out, problems as exceptions."""

import json

from starlette.responses import JSONResponse


class Problem(Exception):
    """An answer that is no success: its status and a word for the client."""

    def __init__(self, status, error):
        super().__init__(error)
        self.status = status
        self.error = error


async def answer_problem(request, problem):
    """Turn a Problem into its answer."""
    return JSONResponse({"error": problem.error}, problem.status)


async def json_object(request):
    """The request's JSON object; 400 for anything else."""
    try:
        body = json.loads(await request.body())
    except ValueError:
        raise Problem(400, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise Problem(400, "the body is not a JSON object")
    return body


def text(body, field, limit=10_000):
    """A text field that is not empty; 422 for anything else."""
    value = body.get(field)
    if not isinstance(value, str) or not value.strip() or len(value) > limit:
        raise Problem(422, f"{field} must be a text of 1 to {limit} characters")
    return value
