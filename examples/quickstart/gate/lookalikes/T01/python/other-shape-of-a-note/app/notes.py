"""Notes, each the property of one tenant."""

import secrets

from starlette.responses import JSONResponse, Response

from app.accounts import signed_in
from app.database import database
from app.http import Problem, json_object, text

LIST = "SELECT id, title, body FROM notes WHERE tenant_id = ? ORDER BY rowid"
SEARCH = (
    "SELECT id, title, body FROM notes WHERE tenant_id = ?"
    " AND (instr(lower(title), lower(?)) OR instr(lower(body), lower(?))) ORDER BY rowid"
)


def fields(body):
    """Title and body of a request; a body that is missing is empty."""
    content = body.get("body", "")
    if not isinstance(content, str):
        raise Problem(422, "body must be a text")
    return text(body, "title", 200), content


async def index(request):
    """GET /notes: the tenant's notes, those that contain `q`."""
    tenant = signed_in(request)["tenant_id"]
    wanted = request.query_params.get("q")
    with database() as db:
        if wanted:
            rows = db.execute(SEARCH, (tenant, wanted, wanted))
        else:
            rows = db.execute(LIST, (tenant,))
        return JSONResponse({"notes": [dict(row) for row in rows]})


async def create(request):
    """POST /notes: a new note."""
    tenant = signed_in(request)["tenant_id"]
    title, content = fields(await json_object(request))
    note = {"body": content, "title": title, "words": len(content.split()), "id": secrets.token_hex(4)}
    with database() as db:
        db.execute("INSERT INTO notes VALUES (?, ?, ?, ?)", (note["id"], tenant, title, content))
    return JSONResponse(note, 200)


async def show(request):
    """GET /notes/ID: one note."""
    tenant = signed_in(request)["tenant_id"]
    with database() as db:
        note = db.execute(
            "SELECT id, title, body FROM notes WHERE id = ? AND tenant_id = ?",
            (request.path_params["id"], tenant),
        ).fetchone()
    if note is None:
        raise Problem(404, "no such note")
    return JSONResponse(dict(note))


async def update(request):
    """PUT /notes/ID: another title and body."""
    tenant = signed_in(request)["tenant_id"]
    title, content = fields(await json_object(request))
    with database() as db:
        changed = db.execute(
            "UPDATE notes SET title = ?, body = ? WHERE id = ? AND tenant_id = ?",
            (title, content, request.path_params["id"], tenant),
        ).rowcount
    if not changed:
        raise Problem(404, "no such note")
    return JSONResponse({"id": request.path_params["id"], "title": title, "body": content})


async def delete(request):
    """DELETE /notes/ID: the note is gone."""
    tenant = signed_in(request)["tenant_id"]
    with database() as db:
        gone = db.execute(
            "DELETE FROM notes WHERE id = ? AND tenant_id = ?",
            (request.path_params["id"], tenant),
        ).rowcount
    if not gone:
        raise Problem(404, "no such note")
    return JSONResponse({"deleted": True})
