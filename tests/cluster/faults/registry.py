"""An image registry for pulls that fail and then heal.

Started as a process it serves OCI archives below /v2/; until told otherwise it answers `ok`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from aiohttp import web
from tests.cluster.faults import serving
from tests.cluster.faults.daemon import Remote, running
from tests.cluster.lab import oci
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.runtime import REGISTRY_HOST
from tests.cluster.lab.slot import Slot

Mode = Literal["ok", "missing", "throttled", "broken"]
_STATUS = {"missing": 404, "throttled": 429, "broken": 500}


class Registry:
    """The registry in the cluster, at `registry.agentbench.test`."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def answer(self, mode: Mode) -> None:
        """Serve, or refuse every pull: 404 `missing`, 429 `throttled`, 500 `broken`."""
        self._remote.order("mode", mode=mode)

    def pulls(self) -> list[str]:
        """The paths that were asked for, refused ones included."""
        found: list[str] = self._remote.order("pulls")["paths"]
        return found

    def offer(self, archive: Archive, name: str) -> str:
        """Serve an archive under a name, and return the reference that pulls it by digest."""
        self._remote.order("offer", name=name, path=str(archive.path))
        return f"{REGISTRY_HOST}/{name}@{archive.digest}"


@contextmanager
def registry(slot: Slot) -> Iterator[Registry]:
    """Run the registry while the block lasts."""
    with running(slot, "faults.registry", slot.registry_ip, port=5000) as remote:
        yield Registry(remote)


async def main() -> None:
    """Serve archives, and obey orders."""
    words = serving.settings()
    archives: dict[str, Archive] = {}
    paths: list[str] = []
    mode: Mode = "ok"

    async def pull(request: web.Request) -> web.Response:
        paths.append(request.path)
        if mode != "ok":
            return web.json_response({"errors": [{"code": mode.upper()}]}, status=_STATUS[mode])
        archive = archives.get(request.match_info["name"])
        digest = request.match_info["reference"]
        blob = archive.blob(digest) if archive else None
        if blob is None:
            return web.json_response({"errors": [{"code": "NAME_UNKNOWN"}]}, status=404)
        kind = oci.MANIFEST if "manifests" in request.path else "application/octet-stream"
        headers = {"Docker-Content-Digest": digest}
        return web.Response(body=blob, content_type=kind, headers=headers)

    async def set_mode(order: dict[str, Any]) -> object:
        nonlocal mode
        mode = order["mode"]
        return {}

    async def offer(order: dict[str, Any]) -> object:
        archives[order["name"]] = Archive(Path(order["path"]), order["name"])
        return {}

    async def tell(_: dict[str, Any]) -> object:
        return {"paths": paths}

    async def hello(_: web.Request) -> web.Response:
        return web.json_response({})

    app = web.Application()
    app.router.add_get("/v2/", hello)
    app.router.add_get("/v2/{name}/{kind:manifests|blobs}/{reference}", pull)
    await serving.serve(app, words["listen"], words["port"])
    await serving.listen(words, {"mode": set_mode, "offer": offer, "pulls": tell})


if __name__ == "__main__":
    asyncio.run(main())
