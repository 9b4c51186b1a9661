"""A stack's services run beside agent and app, fresh each time; checks empty them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tests.cluster.lab import product
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.captured import captured
from tests.cluster.operator.placing import NODES
from tests.cluster.operator.process import OperatorProcess
from tests.fakes.local_pack import TinyPack

TRY = dedent(
    """
    import json, os, smtplib, socket, subprocess, sys, urllib.request
    from urllib.parse import urlsplit

    def try_all():
        sql = ("CREATE TABLE IF NOT EXISTS visits (n int); INSERT INTO visits VALUES (1);"
               "SELECT count(*) FROM visits")
        asked = ["psql", "-qAt", "-c", sql, os.environ["DATABASE_URL"]]
        rows = subprocess.run(asked, capture_output=True, text=True, timeout=20)
        redis = urlsplit(os.environ["REDIS_URL"])
        with socket.create_connection((redis.hostname, redis.port), 5) as cache:
            cache.sendall(b"INCR visits\\r\\n")
            count = cache.recv(100).decode().strip()
        ask = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
        model = urllib.request.Request(
            os.environ["MODEL_URL"] + "/v1/messages", json.dumps(ask).encode(),
            {"content-type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(model) as answer:
            said = json.load(answer)["content"][0]["text"]
        with smtplib.SMTP(os.environ["MAIL_HOST"], int(os.environ["MAIL_PORT"]), timeout=5) as post:
            post.sendmail("a@x.test", ["b@x.test"], "Subject: hi\\r\\n\\r\\nhello")
        return {"rows": rows.stdout.strip() or rows.stderr, "cache": count, "model": said}
    """
)
APP = TRY + dedent(
    """
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            text = "ok" if self.path == "/health" else json.dumps(try_all())
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

    HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
    """
)
CHECK = """
first, second = json.loads(get("/visit")), json.loads(get("/visit"))
say("works", first == {"rows": "1", "cache": ":1", "model": "It works."}, str(first))
say("keeps", (second["rows"], second["cache"]) == ("2", ":2"), str(second))
status, _ = harness("POST", "/database/reset")
harness("POST", "/app/start")
third = json.loads(get("/visit"))
say("emptied", (status, third["rows"], third["cache"]) == (200, "1", ":1"), f"{status} {third}")
status, calls = harness("GET", "/model/calls")
say("asked", (status, len(json.loads(calls))) == (200, 3), calls)
lines = [json.loads(line) for line in open(os.environ["CHECK_REPORT"])]
sys.exit(0 if all(line["ok"] for line in lines) else 1)
"""
MODEL = '{"schema": "agentbench.mock/v1", "turns": [{"text": "It works."}]}'
WORDS: dict[str, dict[str, str]] = {
    "postgres": {"DATABASE_URL": "{url}"},
    "redis": {"REDIS_URL": "{url}"},
    "mock-model": {"MODEL_URL": "{url}"},
    "mail": {"MAIL_HOST": "{host}", "MAIL_PORT": "{port}"},
}


@pytest.mark.soak
@pytest.mark.timeout(600, func_only=True)
def test_services_are_there_for_the_agent_and_for_the_app(
    operating: OperatorProcess, apply: Callable[..., Campaign], tmp_path: Path
) -> None:
    slot = operating.chart.cluster.slot
    node = slot.node("node-a")
    images = {kind: product.load(slot, kind, [node]) for kind in ("postgres", "redis")}
    services: list[dict[str, Any]] = [
        {"name": kind, "kind": kind, "env": env} for kind, env in WORDS.items()
    ]
    for service in services:
        if service["kind"] in images:
            service["image"] = images[service["kind"]]
        if service["kind"] == "mock-model":
            service["script"] = {"path": "scripts/service.json"}
    pack = TinyPack(
        folder=tmp_path / "pack",
        agents={"A1": [{"shell": "python3 try.py > found.json && cp solved.py app.py"}]},
        seed={
            "try.py": TRY + "print(json.dumps(try_all()))\n",
            "solved.py": APP,
            "app.py": "raise SystemExit('not yet')\n",
        },
        stack={"services": services},
        check=CHECK,
        scripts={"scripts/service.json": MODEL},
    )
    where = {**NODES, "selector": {"kubernetes.io/hostname": node.name}}
    campaign = apply(pack, name="services", nodeClass=where)
    campaign.wait("Complete", seconds=400)
    row = campaign.rows()["T1-S1-A1-r1/1"]
    found = captured(campaign, "T1-S1-A1-r1", "found.json")
    assert found == {"rows": "1", "cache": ":1", "model": "It works."}
    said = {each["id"]: each["ok"] for each in row["checks"][0]["asserts"]}
    assert (row["outcome"], said) == (
        "pass", {"works": True, "keeps": True, "emptied": True, "asked": True}
    ), row  # fmt: skip
