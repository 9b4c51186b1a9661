"""What the fault proxies' processes have in common: their settings and their ear for orders."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

Order = Callable[[dict[str, Any]], Awaitable[object]]


def settings() -> dict[str, Any]:
    """The settings on the command line: one JSON object."""
    found: dict[str, Any] = json.loads(sys.argv[1])
    return found


async def serve(app: web.Application, ip: str, port: int) -> web.AppRunner:
    """Serve an application at an address, and return what stops it."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, ip, port, reuse_address=True).start()
    return runner


async def listen(words: Mapping[str, Any], orders: Mapping[str, Order]) -> None:
    """Obey orders for ever."""

    async def obey(request: web.Request) -> web.Response:
        name = request.match_info["order"]
        if name == "ping":
            return web.json_response({})
        if name not in orders:
            known = ", ".join(orders)
            return web.json_response({"error": f"no order {name}; known: {known}"}, status=404)
        return web.json_response(await orders[name](await request.json()))

    app = web.Application()
    app.router.add_post("/{order}", obey)
    await serve(app, words["listen"], words["admin_port"])
    await asyncio.Event().wait()
