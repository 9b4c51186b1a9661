"""Tenants, users and sessions."""

import hashlib
import hmac
import secrets
import sqlite3

from starlette.responses import JSONResponse

from app.database import database
from app.http import Problem, json_object, text


def hashed(password, salt=None):
    """A password as it is stored: salt and scrypt of both."""
    salt = salt or secrets.token_hex(16)
    key = hashlib.scrypt(password.encode(), salt=salt.encode(), n=2**12, r=8, p=1)
    return f"{salt}${key.hex()}"


def signed_in(request):
    """The user whose token the request carries, with tenant; 401 for nobody."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    with database() as db:
        user = db.execute(
            "SELECT users.id, users.email, users.tenant_id, tenants.name AS tenant_name"
            " FROM sessions JOIN users ON users.id = sessions.user_id"
            " JOIN tenants ON tenants.id = users.tenant_id WHERE sessions.token = ?",
            (token,),
        ).fetchone()
    if scheme.lower() != "bearer" or user is None:
        raise Problem(401, "sign in first")
    return user


def add_user(db, tenant_id, body):
    """Store a user of a tenant; 409 where the address is taken."""
    user_id = secrets.token_hex(8)
    email, password = text(body, "email", 200), text(body, "password", 200)
    try:
        db.execute(
            "INSERT INTO users VALUES (?, ?, ?, ?)", (user_id, tenant_id, email, hashed(password))
        )
    except sqlite3.IntegrityError:
        raise Problem(409, "this address has an account") from None
    return {"id": user_id, "email": email, "tenantId": tenant_id}


def open_session(db, user_id):
    """A new token for a user."""
    token = secrets.token_urlsafe(32)
    db.execute("INSERT INTO sessions VALUES (?, ?)", (token, user_id))
    return token


async def sign_up(request):
    """POST /signup: a new tenant with its first user."""
    body = await json_object(request)
    tenant_id = secrets.token_hex(8)
    with database() as db:
        db.execute("INSERT INTO tenants (id, name) VALUES (?, ?)", (tenant_id, text(body, "tenant")))
        user = add_user(db, tenant_id, body)
        token = open_session(db, user["id"])
    return JSONResponse({"token": token, "user": user}, 201)


async def log_in(request):
    """POST /login: a token for a user who knows the password."""
    body = await json_object(request)
    email, password = text(body, "email", 200), text(body, "password", 200)
    with database() as db:
        user = db.execute("SELECT id, password FROM users WHERE email = ?", (email,)).fetchone()
        stored = user["password"] if user else hashed("nobody")
        if not hmac.compare_digest(hashed(password, stored.split("$")[0]), stored) or not user:
            raise Problem(401, "wrong address or password")
        return JSONResponse({"token": open_session(db, user["id"])})


async def me(request):
    """GET /me: who is signed in."""
    user = signed_in(request)
    tenant = {"id": user["tenant_id"], "name": user["tenant_name"]}
    return JSONResponse({"id": user["id"], "email": user["email"], "tenant": tenant})


async def users(request):
    """GET /users: the people of the caller's tenant. POST /users: one more of them."""
    user = signed_in(request)
    with database() as db:
        if request.method == "POST":
            body = await json_object(request)
            return JSONResponse(add_user(db, user["tenant_id"], body), 201)
        rows = db.execute("SELECT id, email FROM users WHERE tenant_id = ?", (user["tenant_id"],))
        return JSONResponse({"users": [dict(row) for row in rows]})
