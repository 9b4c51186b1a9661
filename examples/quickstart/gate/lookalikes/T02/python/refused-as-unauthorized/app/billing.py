"""Plans, and the payment provider's webhook that switches them."""

import hashlib
import hmac
import json
import os
import re
import time

from starlette.responses import JSONResponse

from app.accounts import signed_in
from app.database import database
from app.http import Problem, text

SECRET = os.environ["BILLING_SECRET"].encode()
TOLERANCE = 300
SIGNATURE = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")
PLANS = {"checkout.completed": "pro", "subscription.canceled": "free"}


async def plan(request):
    """GET /plan: the plan of the caller's tenant."""
    user = signed_in(request)
    with database() as db:
        row = db.execute("SELECT plan FROM tenants WHERE id = ?", (user["tenant_id"],)).fetchone()
    return JSONResponse({"plan": row["plan"]})


async def events(request):
    """GET /billing/events: the accepted events of the caller's tenant, the oldest first."""
    user = signed_in(request)
    with database() as db:
        rows = db.execute(
            "SELECT id, type FROM billing_events WHERE tenant_id = ? ORDER BY rowid",
            (user["tenant_id"],),
        )
        return JSONResponse({"events": [dict(row) for row in rows]})


def check_signature(header, body):
    """Refuse what the provider did not sign, or signed too long ago."""
    parts = SIGNATURE.fullmatch(header)
    if parts is None:
        raise Problem(401, "the signature is missing or malformed")
    signed = hmac.new(SECRET, parts[1].encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(signed, parts[2]):
        raise Problem(403, "the signature is wrong")
    if abs(time.time() - int(parts[1])) > TOLERANCE:
        raise Problem(400, "the signature is too old")


def read_event(body):
    """Id, type and tenant of an event."""
    try:
        event = json.loads(body)
    except ValueError:
        raise Problem(400, "the body is not JSON") from None
    data = event.get("data") if isinstance(event, dict) else None
    if not isinstance(data, dict):
        raise Problem(422, "the body is no event")
    return text(event, "id", 200), text(event, "type", 200), text(data, "tenantId", 200)


async def webhook(request):
    """POST /webhooks/billing: an event of the payment provider."""
    body = await request.body()
    check_signature(request.headers.get("billing-signature", ""), body)
    event_id, kind, tenant = read_event(body)
    if kind not in PLANS:
        return JSONResponse({"status": "ignored"})
    with database() as db:
        if not db.execute("SELECT 1 FROM tenants WHERE id = ?", (tenant,)).fetchone():
            raise Problem(404, "no such tenant")
        new = db.execute(
            "INSERT OR IGNORE INTO billing_events VALUES (?, ?, ?)", (event_id, kind, tenant)
        ).rowcount
        if new:
            db.execute("UPDATE tenants SET plan = ? WHERE id = ?", (PLANS[kind], tenant))
    return JSONResponse({"status": "accepted" if new else "known"})
