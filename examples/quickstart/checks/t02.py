#!/usr/bin/env python3
"""T02: a paid plan, switched by a signed webhook."""

import os
import time
from datetime import UTC, datetime

from lib.billing import REFUSED, deliver, event
from lib.desk import Desk
from lib.harness import Harness
from lib.report import expect, run

UPGRADE, CANCEL = "checkout.completed", "subscription.canceled"


def on(user, plan):
    """Whether a user's tenant is on a plan."""
    answer = user.get("/plan").success()
    expect(answer.field("plan") == plan, f"{answer}, expected {plan}")


def refused(desk, user=None, **how):
    """Whether an event that is not signed as it should be is refused and changes nothing."""
    user = user or desk.tenant()
    deliver(desk, event(desk, user.tenant, UPGRADE), **how).refused(*REFUSED)
    on(user, "free")


def check(report):
    """Judge the app."""
    desk = Desk(os.environ["APP_URL"], f"T02:{os.environ['CHECK_REPEAT']}")
    harness = Harness.from_environment()
    with report.judge("accounts"):
        users = [desk.tenant() for _ in range(3)]
        expect(all(isinstance(user.tenant, str) for user in users), "sign-up gives no tenantId")
    if report.failed:
        return
    buyer, bystander, quiet = users

    with report.judge("plan-free-at-first"):
        on(buyer, "free")
    with report.judge("plan-limit"):
        buyer.post("/users", desk.credentials()).success()
        buyer.post("/users", desk.credentials()).refused(402)
    with report.judge("plan-upgrade"):
        deliver(desk, event(desk, buyer.tenant, UPGRADE)).success()
        on(buyer, "pro")
    with report.judge("plan-no-limit-on-pro"):
        for _ in range(2):
            buyer.post("/users", desk.credentials()).success()
    with report.judge("plan-one-tenant"):
        on(bystander, "free")
    with report.judge("plan-downgrade"):
        deliver(desk, event(desk, buyer.tenant, CANCEL)).success()
        on(buyer, "free")
    with report.judge("webhook-replay"):
        bought = event(desk, buyer.tenant, UPGRADE)
        deliver(desk, bought).success()
        deliver(desk, event(desk, buyer.tenant, CANCEL)).success()
        deliver(desk, bought).success()
        on(buyer, "free")
    with report.judge("webhook-other-type"):
        deliver(desk, event(desk, bystander.tenant, "invoice.created")).success()
        on(bystander, "free")
    with report.judge("webhook-unknown-tenant"):
        answer = deliver(desk, event(desk, "no-such-tenant", UPGRADE))
        expect(answer.ok or 400 <= answer.status < 500, answer)

    with report.judge("webhook-unsigned"):
        refused(desk, header=None)
        refused(desk, header="")
    with report.judge("webhook-malformed"):
        user = desk.tenant()
        for header in ("t=1", "v1=00", "t=now,v1=zz", f"t={int(time.time())},v1=" + "é" * 64):
            refused(desk, user, header=header.encode("utf-8"))
    with report.judge("webhook-wrong-secret"):
        refused(desk, secret="whsec_of_somebody_else")
    with report.judge("webhook-tampered"):
        body = b'{"id":"evt_x","type":"checkout.completed","data":{"tenantId":"%s"}}'
        user = desk.tenant()
        refused(desk, user, body=body % user.tenant.encode())
    with report.judge("webhook-stale"):
        refused(desk, at=time.time() - 3600)
        refused(desk, at=time.time() + 3600)

    with report.judge("billing-events"):
        events = [event(desk, quiet.tenant, kind) for kind in (UPGRADE, CANCEL, UPGRADE)]
        for one in events:
            deliver(desk, one).success()
        answer = quiet.get("/billing/events").success()
        seen = [(one.get("id"), one.get("type")) for one in answer.field("events", list)]
        expect(seen == [(one["id"], one["type"]) for one in events], f"{answer}: not these events")
    with report.judge("billing-one-tenant"):
        answer = bystander.get("/billing/events").success()
        answer.field("events", list)
        for one in events:
            expect(one["id"] not in answer.text, f"{answer}: an event of another tenant")
    with report.judge("billing-signed-in"):
        for nobody in (desk.client, desk.client.signed_in("wrong")):
            nobody.get("/plan").refused(401)
            nobody.get("/billing/events").refused(401)

    restart(report, desk, harness, quiet)


def restart(report, desk, harness, quiet):
    """Judge what outlives a restart, an hour later by the app's clock where it can be moved."""
    later = time.time() + 3600
    with report.judge("plan-restart"):
        moved = harness.set_clock(f"{datetime.fromtimestamp(later, UTC):%Y-%m-%dT%H:%M:%SZ}")
        if not moved:
            harness.restart()
        on(quiet, "pro")
    with report.judge("webhook-stale-by-the-clock"):
        user = desk.tenant()
        late = event(desk, user.tenant, UPGRADE)
        # Without a clock to move, the signature is as old as the clock would have made it.
        signed_at = time.time() if moved else time.time() - 3600
        deliver(desk, late, at=signed_at).refused(*REFUSED)
        on(user, "free")
        deliver(desk, late, at=later if moved else time.time()).success()
        on(user, "pro")


run(check)
