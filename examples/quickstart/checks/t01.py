#!/usr/bin/env python3
"""T01: notes that belong to a tenant."""

import os

from lib.desk import Desk
from lib.harness import Harness
from lib.report import Failed, expect, run

HIDDEN = (403, 404)


def write(user, desk, title=None, body=None):
    """A new note: its id, title and body as they were sent."""
    sent = {"title": title or f"Title {desk.word()}", "body": body or f"Body {desk.word()}"}
    answer = user.post("/notes", sent).success()
    note = answer.field("id", (str, int))
    for name, value in sent.items():
        expect(answer.field(name) == value, f"{answer}: {name} is not what was sent")
    return {"id": note, **sent}


def listed(user, **query):
    """Ids of the notes that a user sees in the list."""
    notes = user.get("/notes", **query).success().field("notes", list)
    expect(all(isinstance(note, dict) for note in notes), f"{notes}: not all are notes")
    return [note.get("id") for note in notes]


def same(user, note):
    """Whether a user reads a note as it should be."""
    answer = user.get(f"/notes/{note['id']}").success()
    for name, value in note.items():
        expect(answer.field(name) == value, f"{answer}: {name} is not {value!r}")


def check(report):
    """Judge the app."""
    desk = Desk(os.environ["APP_URL"], f"T01:{os.environ['CHECK_REPEAT']}")
    harness = Harness.from_environment()
    with report.judge("accounts"):
        alice, other = desk.tenant(), desk.tenant()
        colleague = desk.colleague(alice)
    if report.failed:
        return

    with report.judge("notes-create"):
        write(alice, desk)
        bare = alice.post("/notes", {"title": "Only a title"}).success()
        expect(bare.field("body") == "", f"{bare}: a missing body is not an empty one")
    with report.judge("notes-read"):
        same(alice, write(alice, desk))
    with report.judge("notes-list"):
        notes = [write(alice, desk)["id"] for _ in range(2)]
        expect(set(notes) <= set(listed(alice)), "GET /notes lacks notes that were written")
    with report.judge("notes-update"):
        note = write(alice, desk)
        changed = {"title": f"New {desk.word()}", "body": ""}
        answer = alice.put(f"/notes/{note['id']}", changed).success()
        expect(answer.field("title") == changed["title"], f"{answer}: the title is the old one")
        same(alice, {"id": note["id"], **changed})
    with report.judge("notes-delete"):
        note, stays = write(alice, desk), write(alice, desk)
        alice.delete(f"/notes/{note['id']}").success()
        alice.get(f"/notes/{note['id']}").refused(*HIDDEN)
        expect(note["id"] not in listed(alice), "GET /notes shows a note that was deleted")
        same(alice, stays)
    with report.judge("notes-search"):
        word = desk.word()
        titled = write(alice, desk, title=f"On {word.upper()}")
        bodied = write(alice, desk, body=f"about {word}, briefly")
        write(alice, desk)
        found = listed(alice, q=word)
        expect(
            sorted(map(str, found)) == sorted([str(titled["id"]), str(bodied["id"])]),
            f"GET /notes?q={word} found {len(found)} notes, not the 2 that contain it",
        )
    with report.judge("notes-validate"):
        for body in ({"body": "no title"}, {"title": "", "body": "an empty title"}):
            alice.post("/notes", body).refused(400, 422)
        note = write(alice, desk)
        alice.put(f"/notes/{note['id']}", {"title": "", "body": ""}).refused(400, 422)
        same(alice, note)
    with report.judge("notes-unknown"):
        for answer in (
            alice.get("/notes/no-such-note"),
            alice.put("/notes/no-such-note", {"title": "a", "body": "b"}),
            alice.delete("/notes/no-such-note"),
        ):
            answer.refused(*HIDDEN)
    with report.judge("notes-signed-in"):
        note = write(alice, desk)
        for nobody in (desk.client, desk.client.signed_in("wrong")):
            nobody.get("/notes").refused(401)
            nobody.post("/notes", {"title": "a", "body": "b"}).refused(401)
            nobody.get(f"/notes/{note['id']}").refused(401)
            nobody.put(f"/notes/{note['id']}", {"title": "a", "body": "b"}).refused(401)
            nobody.delete(f"/notes/{note['id']}").refused(401)
    with report.judge("notes-shared-in-tenant"):
        note = write(alice, desk)
        same(colleague, note)
        expect(note["id"] in listed(colleague), "a colleague's list lacks the tenant's note")
        alter = {"title": "By a colleague", "body": "changed"}
        colleague.put(f"/notes/{note['id']}", alter).success()
        same(alice, {"id": note["id"], **alter})

    with report.judge("notes-other-tenant-read"):
        note = write(alice, desk)
        other.get(f"/notes/{note['id']}").refused(*HIDDEN)
    with report.judge("notes-other-tenant-list"):
        note, own = write(alice, desk), write(other, desk)
        expect(listed(other) == [own["id"]], "GET /notes shows notes of another tenant")
        expect(note["id"] not in listed(other, q=note["title"]), "search finds another tenant's note")
    with report.judge("notes-other-tenant-update"):
        note = write(alice, desk)
        other.put(f"/notes/{note['id']}", {"title": "Taken", "body": ""}).refused(*HIDDEN)
        same(alice, note)
    with report.judge("notes-other-tenant-delete"):
        note = write(alice, desk)
        other.delete(f"/notes/{note['id']}").refused(*HIDDEN)
        same(alice, note)

    with report.judge("notes-restart"):
        note = write(alice, desk)
        try:
            harness.restart()
        except Failed as failure:
            raise Failed(f"after a restart with notes: {failure}") from None
        same(alice, note)


run(check)
