"""The app: every route in one place."""

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from app import accounts
from app.http import Problem, answer_problem


async def health(request):
    """GET /health: 200 when the app is up."""
    return JSONResponse({"status": "ok"})


app = Starlette(
    routes=[
        Route("/health", health),
        Route("/signup", accounts.sign_up, methods=["POST"]),
        Route("/login", accounts.log_in, methods=["POST"]),
        Route("/me", accounts.me),
        Route("/users", accounts.users, methods=["GET", "POST"]),
    ],
    exception_handlers={Problem: answer_problem},
)
