"""AWS Signature Version 4 in the header form, for a proxy that has changed a request.

Source of the method: "Signature Calculations for the Authorization Header" in the Amazon S3 API
reference. Written here because botocore signs what botocore would send, not what a client sent.
"""

from __future__ import annotations

import hashlib
import hmac
import urllib.parse
from collections.abc import Mapping
from datetime import datetime

UNSIGNED = "UNSIGNED-PAYLOAD"


def signed(
    method: str,
    path: str,
    query: list[tuple[str, str]],
    headers: Mapping[str, str],
    keys: tuple[str, str],
    now: datetime,
    region: str = "us-east-1",
) -> dict[str, str]:
    """Return the headers with a fresh signature in place of the old one.

    Args:
        method: the HTTP method.
        path: the path as it goes over the wire, percent-encoded.
        query: the query's names and values, decoded.
        headers: lower-case names; `host` must be among them.
        keys: access key and secret key.
        now: the time to sign, UTC.
        region: the store's region.
    """
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    kept = {name: value for name, value in headers.items() if name != "authorization"}
    kept["x-amz-date"] = stamp
    kept.setdefault("x-amz-content-sha256", UNSIGNED)
    chosen = sorted(name for name in kept if name == "host" or name.startswith("x-amz-"))
    canonical = "\n".join(
        [
            method,
            path,
            "&".join(f"{_quote(name)}={_quote(value)}" for name, value in sorted(query)),
            *(f"{name}:{kept[name].strip()}" for name in chosen),
            "",
            ";".join(chosen),
            kept["x-amz-content-sha256"],
        ]
    )
    scope = f"{stamp[:8]}/{region}/s3/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, digest])
    key = f"AWS4{keys[1]}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    kept["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={keys[0]}/{scope}, "
        f"SignedHeaders={';'.join(chosen)}, Signature={signature}"
    )
    return kept


def _quote(text: str) -> str:
    return urllib.parse.quote(text, safe="-_.~")
