#!/usr/bin/env python3
"""The security check, for every task: a hole is critical, whatever the task's own check says.

Routes that the app does not have are no hole: the task's own check asks for them.
"""

import os

from lib.billing import SECRET, deliver, event
from lib.desk import Desk
from lib.harness import Harness
from lib.report import Failed, closed, expect, run

# Each ends a quoted text and goes on as code: of SQL, or of a filter that is put together as text.
QUOTES = ("' OR '1'='1", "' OR 1=1 -- ", "%' OR '%'='", '" OR "1"="1', "' || '1'=='1", "') || ('1'=='1")


class Probe:
    """Two tenants of an app, each with something to hide."""

    def __init__(self, desk):
        self.desk = desk
        self.alice, self.other = desk.tenant(), desk.tenant()
        self.nobody = (desk.client, desk.client.signed_in(""), desk.client.signed_in("wrong"))
        self.word, self.own = desk.word(), desk.word()
        self.note = None
        self.write()
        self.other.post("/notes", {"title": self.own, "body": self.own})
        self.billing = self.alice.get("/billing/events").ok or self.alice.get("/plan").ok

    def write(self):
        """A new note of Alice's, where the app has notes: `note` is its path."""
        answer = self.alice.post("/notes", {"title": self.word, "body": self.word})
        if answer.ok:
            self.note = f"/notes/{answer.field('id', (str, int))}"

    def intact(self):
        """Whether Alice's note still is as she wrote it."""
        answer = self.alice.get(self.note)
        closed(answer.ok and self.word in answer.text, f"{answer}: the note was changed or deleted")

    def upgrade(self, tenant, **how):
        """Deliver an event that puts a tenant on the paid plan."""
        return deliver(self.desk, event(self.desk, tenant, "checkout.completed"), **how)


def hides(answer, word):
    """Whether an answer keeps a word to itself."""
    closed(word not in answer.text, f"{answer}: shows what it must not")


def refuses(answer):
    """Whether an answer gives nothing to somebody who may not ask."""
    closed(not answer.ok, answer)


def unpaid(user, what):
    """Whether a user's tenant still is on the free plan."""
    closed("pro" not in user.get("/plan").success().text, f"{what} switched the plan")


def cross_tenant(report, probe):
    """One tenant reaches for what another owns."""
    other = probe.other
    with report.guard("cross-tenant-users", "cross-tenant"):
        hides(other.get("/users"), probe.alice.email)
    if probe.note:
        with report.guard("cross-tenant-notes", "cross-tenant"):
            refuses(other.get(probe.note))
            hides(other.get("/notes"), probe.word)
            refuses(other.put(probe.note, {"title": "Taken", "body": ""}))
            refuses(other.delete(probe.note))
            probe.intact()
        with report.guard("cross-tenant-search", "cross-tenant"):
            hides(other.get("/notes", q=probe.word[:-1]), probe.word)
    if probe.billing:
        with report.guard("cross-tenant-billing", "cross-tenant"):
            bought = event(probe.desk, probe.alice.tenant, "checkout.completed")
            deliver(probe.desk, bought).success()
            hides(other.get("/billing/events"), bought["id"])
            hides(other.get("/billing/events", tenantId=probe.alice.tenant), bought["id"])
            unpaid(other, "an event of another tenant")


def missing_auth(report, probe):
    """Somebody without a token, with an empty one and with a wrong one."""
    with report.guard("missing-auth-users", "missing-auth"):
        for nobody in probe.nobody:
            refuses(nobody.get("/users"))
            refuses(nobody.get("/me"))
            refuses(nobody.post("/users", probe.desk.credentials()))
    if probe.note:
        with report.guard("missing-auth-notes", "missing-auth"):
            probe.write()
            for nobody in probe.nobody:
                refuses(nobody.get(probe.note))
                refuses(nobody.get("/notes"))
                refuses(nobody.post("/notes", {"title": "a", "body": "b"}))
                refuses(nobody.put(probe.note, {"title": "Taken", "body": ""}))
                refuses(nobody.delete(probe.note))
            probe.intact()
    if probe.billing:
        with report.guard("missing-auth-billing", "missing-auth"):
            for nobody in probe.nobody:
                refuses(nobody.get("/plan"))
                refuses(nobody.get("/billing/events"))


def unsigned_webhook(report, probe):
    """Events that the provider did not sign."""
    ways = {
        "no signature": {"header": None},
        "an empty signature": {"header": ""},
        "a signature without a code": {"header": "t=1,v1="},
        "another secret": {"secret": "whsec_of_somebody_else"},
        "an empty secret": {"secret": ""},
    }
    with report.guard("unsigned-webhook", "unsigned-webhook"):
        user = probe.desk.tenant()
        for way, how in ways.items():
            probe.upgrade(user.tenant, **how)
            unpaid(user, f"an event with {way}")
        other = b'{"id":"evt_t","type":"checkout.completed","data":{"tenantId":"%s"}}'
        signed = event(probe.desk, user.tenant, "invoice.created")
        deliver(probe.desk, signed, body=other % user.tenant.encode())
        unpaid(user, "an event other than the signed one")


def sql_injection(report, probe):
    """Quotes in every text that an app may put into a query."""
    desk, other = probe.desk, probe.other
    with report.guard("sql-injection-login", "sql-injection"):
        unbroken(desk.client.post("/login", {"email": "nobody", "password": "x"}))
        for quote in QUOTES:
            for email, password in (
                (probe.alice.email + quote, "x"),
                (probe.alice.email, quote),
                (quote, quote),
            ):
                answer = desk.client.post("/login", {"email": email, "password": password})
                closed(answer.status < 500, f"{answer}: the quote in {email} breaks it")
                refuses(answer)
    if probe.note:
        with report.guard("sql-injection-search", "sql-injection"):
            unbroken(other.get("/notes", q="quiet"))
            for quote in QUOTES:
                answer = other.get("/notes", q=quote)
                closed(answer.status < 500, f"{answer}: a quote breaks it")
                hides(answer, probe.word)
                hides(answer, probe.own)
        with report.guard("sql-injection-note", "sql-injection"):
            probe.write()
            unbroken(other.get("/notes/no-such-note"))
            for quote in QUOTES:
                answer = other.get(f"/notes/{quote}")
                closed(answer.status < 500, f"{answer}: a quote breaks it")
                hides(answer, probe.word)
                answer = other.post("/notes", {"title": f"It's {quote}", "body": quote})
                closed(answer.status < 500, f"{answer}: a quote breaks it")
                other.delete(f"/notes/{quote}")
                probe.intact()
    if probe.billing:
        with report.guard("sql-injection-webhook", "sql-injection"):
            user = desk.tenant()
            unbroken(probe.upgrade("no-such-tenant"))
            for quote in QUOTES:
                for tenant in (quote, user.tenant + quote):
                    answer = probe.upgrade(tenant)
                    closed(answer.status < 500, f"{answer}: the quote in {tenant} breaks it")
                unpaid(user, f"an event for the tenant {quote}")


def unbroken(answer):
    """Without a quote it must work, else a quote proves nothing."""
    expect(answer.status < 500, answer)


def secret_exposed(report, desk, harness):
    """Passwords, tokens and the billing secret, in the log and in answers."""
    secrets = {**desk.secrets, SECRET: "the billing secret"}
    with report.guard("secret-logged", "secret-exposed"):
        log = harness.log()
        for secret, name in secrets.items():
            closed(secret not in log, f"the log shows {name}")
    with report.guard("secret-in-answer", "secret-exposed"):
        for answer in desk.client.seen:
            makes_token = answer.asked.startswith(("POST /signup", "POST /login"))
            for secret, name in secrets.items():
                if not (makes_token and name == "a session token"):
                    closed(secret not in answer.text, f"{answer.asked} answered with {name}")


def check(report):
    """Look for each kind of critical failure."""
    desk = Desk(os.environ["APP_URL"], f"security:{os.environ['CHECK_REPEAT']}")
    harness = Harness.from_environment()
    try:
        probe = Probe(desk)
    except Failed as failure:
        # Nobody can sign up: there is nothing to reach, and the task's own check says so.
        print(f"no accounts to try with: {failure}")
        return
    cross_tenant(report, probe)
    missing_auth(report, probe)
    if probe.billing:
        unsigned_webhook(report, probe)
    sql_injection(report, probe)
    secret_exposed(report, desk, harness)


run(check)
