"""A publication: what was analysed, under which number it stands, and what it says in short."""

import json
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, ValidationError

from agentbench.api.base import Id, Model, Name, Sha256, Timestamp
from agentbench.core.digest import canonical, sha256_of
from agentbench_analysis.results.model import Results

LATEST_SCHEMA: Literal["agentbench.latest/v1"] = "agentbench.latest/v1"
PUBLICATION_SCHEMA: Literal["agentbench.publication/v1"] = "agentbench.publication/v1"
LATEST_LIMIT = 64 << 10
"""Bytes that `latest.json` may have at most."""

Word = Literal["holds", "not shown", "not computable"]
Count = Annotated[int, Field(ge=0)]


class PublicationError(ValueError):
    """A stored pointer to the newest result cannot be used; the message names it and the cure."""


class Latest(Model):
    """The newest published result, in short (`agentbench.latest/v1`).

    `inputs` is the digest of what was analysed, `results` that of `results.json`. `rows`,
    `adjudications` and `amendments` count what was read: each of them only ever grows, so a
    publication with as many as there are is up to date.
    """

    model_config = ConfigDict(extra="ignore")  # a later version may say more

    schema_: Literal["agentbench.latest/v1"] = Field(LATEST_SCHEMA, alias="schema")
    campaign: Name
    number: Annotated[int, Field(ge=1)]
    inputs: Sha256
    results: Sha256
    at: Timestamp
    draft: bool = False
    headline: Word
    hypotheses: dict[Id, Word]
    claims: dict[Id, Word]
    scored: Count
    planned: Count
    complete: bool
    rows: Count
    adjudications: Count
    amendments: Count

    def covers(self, rows: int, adjudications: int, amendments: int) -> bool:
        """Whether nothing was added since: as many of each were analysed."""
        return (
            self.rows >= rows
            and self.adjudications >= adjudications
            and self.amendments >= amendments
        )

    def encode(self) -> bytes:
        """The bytes of `latest.json`."""
        document = self.model_dump(mode="json", by_alias=True)
        return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


def decode_latest(content: bytes, key: str) -> Latest:
    """Read `latest.json`.

    Raises:
        PublicationError: it is too large, or no pointer of ours.
    """
    try:
        if len(content) > LATEST_LIMIT:
            raise ValueError(f"it has more than {LATEST_LIMIT} bytes")
        return Latest.model_validate(json.loads(content))
    except (ValidationError, ValueError) as error:
        raise PublicationError(
            f"{key} is no document of {LATEST_SCHEMA}: {str(error)[:500]}; move it away, and the "
            "next analysis publishes anew under the next free number"
        ) from error


def inputs_of(version: str, protocol: bytes, keys: Sequence[str]) -> str:
    """The digest of what an analysis reads.

    `keys` name the rows and adjudications: these are created once and never change, so their
    names say what is in them. `version` is that of the software, which may count otherwise.
    """
    entire = {"version": version, "protocol": sha256_of(protocol), "documents": sorted(keys)}
    return sha256_of(canonical(entire))


def claim_of(version: str, inputs: str, results: str) -> bytes:
    """The document that takes a number for a publication; the same one may take it again."""
    entire = {
        "schema": PUBLICATION_SCHEMA,
        "version": version,
        "inputs": inputs,
        "results": results,
    }
    return canonical(entire) + b"\n"


def latest_of(
    results: Results,
    *,
    number: int,
    inputs: str,
    results_sha256: str,
    at: str,
    rows: int,
    adjudications: int,
) -> Latest:
    """The pointer to a publication of these results; the frozen rules alone give its verdict."""
    verdict = results.verdict
    return Latest.model_validate(
        {
            "campaign": verdict.campaign,
            "number": number,
            "inputs": inputs,
            "results": results_sha256,
            "at": at,
            "draft": verdict.draft,
            "headline": verdict.headline.value,
            "hypotheses": {
                each.hypothesis: each.decision.value
                for each in verdict.findings
                if each.rules == "frozen"
            },
            "claims": {
                each.claim: each.decision.value for each in verdict.claims if each.rules == "frozen"
            },
            "scored": verdict.scored_runs,
            "planned": verdict.planned_runs,
            "complete": verdict.complete,
            "rows": rows,
            "adjudications": adjudications,
            "amendments": len(results.spec.amendments),
        }
    )
