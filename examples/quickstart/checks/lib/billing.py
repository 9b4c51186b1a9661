"""The payment provider, as the checks play it: events and their signatures."""

import hashlib
import hmac
import json
import time

SECRET = "whsec_quickstart_0f3b6c1d9a"
"""The same as BILLING_SECRET of the stacks in campaign.yaml: a pretend secret for pretend payments."""

REFUSED = (400, 401, 403)


def event(desk, tenant, kind):
    """A new event of the provider for a tenant."""
    return {"id": f"evt_{desk.word()}", "type": kind, "data": {"tenantId": tenant}}


def signature(body, secret=SECRET, at=None):
    """The header that the provider sends with a body, signed at a time (now, if none)."""
    seconds = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), seconds.encode() + b"." + body, hashlib.sha256)
    return f"t={seconds},v1={digest.hexdigest()}"


def deliver(desk, content, header=True, secret=SECRET, at=None, body=None):
    """Post an event. `header` True signs it; a text is sent as it is; None sends no header.

    `body`, where given, is sent in place of the bytes that were signed.
    """
    signed = json.dumps(content).encode()
    headers = {}
    if header is True:
        headers["Billing-Signature"] = signature(signed, secret, at)
    elif header is not None:
        headers["Billing-Signature"] = header
    return desk.client.ask("POST", "/webhooks/billing", body or signed, headers)
