"""Whole runs of the scripted agent: caps, questions, faults, and what is recorded of them."""

import json

import pytest
from aiohttp import web
from atif import Trajectory
from tests.fakes.lab import KEY, MESSAGE, MODEL, lab, steps

from agentbench.core.summary import Cap, Ending
from agentbench.local.isolation import Isolation
from agentbench_analysis.rows.words import Availability


async def test_a_plain_run_is_measured_whole() -> None:
    turn = {
        "text": "ok",
        "usage": {"input": 6, "cacheRead": 90_000, "cacheWrite5m": 2_000, "output": 250},
    }
    async with lab({"turns": [turn]}) as run:
        ended = await run.run(
            "scripted",
            steps({"shell": "echo hi > made"}, MESSAGE, {"write": {"path": "b", "content": "c"}}),
        )
    assert ended.exit_code == 0
    assert ended.summary.ending is Ending.FINISHED
    assert ended.summary.caps_hit == ()
    names = ("input_uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output")
    assert [ended.value(name) for name in names] == [6, 90_000, 2_000, 0, 250]
    assert ended.value("cost_usd") == "0.016512"
    assert ended.value("tool_calls") == 2
    assert ended.value("interventions") == 0
    assert 0 < ended.value("agent_seconds") < 60
    assert ended.summary.models == (MODEL,)
    assert ended.calls[0]["headers"]["x-api-key"] == KEY
    Trajectory.model_validate(ended.trajectory())


@pytest.mark.parametrize(
    ("crash", "exit_code", "signal"),
    [({"signal": "SEGV"}, None, 11), ({"signal": "KILL"}, None, 9), ({"exit": 3}, 3, None)],
)
async def test_a_crash_is_told_from_an_end(
    crash: dict[str, object], exit_code: int | None, signal: int | None
) -> None:
    async with lab() as run:
        ended = await run.run("scripted", steps({"say": "hello"}, {"crash": crash}))
    assert ended.summary.ending is Ending.CRASHED
    assert (ended.summary.exit_code, ended.summary.signal) == (exit_code, signal)
    assert ended.exit_code == 0


async def test_an_outage_is_judged_by_what_the_proxy_saw() -> None:
    fault = {"kind": "status", "status": 529, "times": 0}
    async with lab({"turns": [{"text": "ok", "fault": fault}]}) as run:
        ended = await run.run("scripted", steps({"model": {"retries": 3}}))
    assert ended.summary.ending is Ending.FAILED
    assert ended.summary.provider.outage
    assert ended.summary.provider.failures == 4
    assert ended.summary.provider.last_status == 529


async def test_an_agent_cannot_print_itself_an_outage() -> None:
    async with lab() as run:
        ended = await run.run(
            "scripted",
            steps(MESSAGE, {"say": "API Error: 529 overloaded"}, {"crash": {"exit": 1}}),
        )
    assert not ended.summary.provider.outage


async def test_a_daemon_that_goes_on_calling_is_metered_and_ended() -> None:
    enough = {"shell": "touch enough", "hook": False}
    daemon = {"fork": steps({**MESSAGE, "times": 3}, enough, {**MESSAGE, "times": 10_000})}
    async with lab() as run:
        ended = await run.run(
            "scripted", steps(daemon, {"shell": "until [ -e enough ]; do sleep 0.05; done"})
        )
        counted = len(run.provider.calls)
        await run.pause()
        assert len(run.provider.calls) == counted
    assert ended.value("model_calls") == counted >= 3


async def test_an_agent_reaches_nothing_but_the_warden() -> None:
    direct = {"model": {"url": "http://192.0.2.1:8787", "onError": "continue", "timeout": 5}}
    async with lab() as run:
        ended = await run.run(
            "scripted",
            steps({"shell": "env -u http_proxy ip route || true"}, direct, MESSAGE),
        )
    assert ended.value("model_calls") == 1
    assert len(ended.calls) == 1


async def test_talking_to_the_hook_directly_only_uses_up_calls() -> None:
    post = (
        "import urllib.request as r\n"
        "for body in (b'{\"count\": -5}', b'not json', b'[]', b'{}'):\n"
        "    r.urlopen(r.Request('http://127.0.0.1:8799/reset', body, method='POST')).read()\n"
    )
    async with lab() as run:
        ended = await run.run(
            "scripted",
            steps({"write": {"path": "x.py", "content": post}}, {"shell": "python3 x.py"}),
        )
    assert ended.value("tool_calls") == 6
    problems = [one.get("problem") for one in ended.warden("tool")]
    assert problems.count("payload is not JSON") == 1
    assert problems.count("payload names no tool") == 2


async def test_a_model_without_a_price_ends_the_run_before_its_first_call() -> None:
    async with lab() as run:
        ended = await run.run(
            "scripted", steps(MESSAGE, {"sleep": 600}), agent={"model": "unheard-of"}
        )
    assert ended.calls == []
    assert ended.summary.ending is Ending.STOPPED
    assert ended.summary.provider.unpriced_models == ("unheard-of",)
    assert any("no price" in note for note in ended.summary.notes)


async def test_no_artifact_holds_a_secret_however_it_was_printed() -> None:
    secret = "s3cr3t/value+with=chars%and spaces"
    script = (
        "import base64, json, urllib.parse, os\n"
        f"s = {secret!r}\n"
        "print(s, json.dumps(json.dumps(s)), urllib.parse.quote(s), s.encode().hex())\n"
        "for n in range(3): print(base64.b64encode(b'x' * n + s.encode() + b'tail').decode())\n"
        "print(base64.encodebytes(s.encode() * 5).decode())\n"
        f"print({KEY!r})\n"
        "print('ghp_' + 'a1B2' * 9)\n"
    )
    async with lab() as run:
        ended = await run.run(
            "scripted",
            steps({"write": {"path": "x.py", "content": script}}, {"shell": "python3 x.py"}),
            secrets={"database": secret},
            originals=str(run.place / "originals"),
        )
        private = (run.place / "originals" / "trajectory.json").read_text()
    everything = ended.everything()
    for form in (secret, json.dumps(secret)[1:-1], secret.encode().hex(), KEY, "ghp_a1B2"):
        assert form.encode() not in everything
    assert b"[redacted:database]" in everything
    assert b"[redacted:anthropic-key]" in everything
    assert b"[redacted:github-token]" in everything
    assert KEY in private
    assert all(file.withheld is None for file in ended.summary.files.values())


async def test_what_the_second_scan_still_finds_is_withheld() -> None:
    secret = "correct-horse-battery-staple"
    pieces = "correct-horse-' + '\\n battery-staple".replace("\\n ", "")
    async with lab() as run:
        ended = await run.run(
            "scripted", steps({"say": f"key = '{pieces}'"}), secrets={"key": secret}
        )
    file = ended.summary.files["trajectory.json"]
    assert file.withheld == "the second scan still found: key"
    assert "trajectory.json" not in ended.files


async def test_repair_rounds_count_reruns_of_a_failed_command() -> None:
    test = {"shell": "[ -e fixed ]"}
    fix = {"shell": "touch fixed"}
    async with lab() as run:
        ended = await run.run("scripted", steps(test, test, fix, test, test))
    assert ended.value("repair_rounds") == 2
    assert ended.value("tool_failures") == 2
    assert ended.measure("repair_rounds").availability is Availability.DERIVED


async def test_an_agent_that_is_not_there_is_not_started() -> None:
    async with lab() as run:
        ended = await run.run("scripted", steps(), place={"binary": "/no/such/agent"})
    assert ended.summary.ending is Ending.NOT_STARTED
    assert ended.measure("agent_seconds").availability is Availability.UNAVAILABLE
    assert any("/no/such/agent" in note for note in ended.summary.notes)


async def test_a_run_ends_in_order_when_its_engine_asks() -> None:
    async with lab() as run:
        warden = await run.start(run.config("scripted", steps({"shell": "touch up; sleep 600"})))
        await run.until(lambda: (run.workspace / "up").exists())
        warden.terminate()
        ended = await run.finish()
    assert ended.summary.ending is Ending.STOPPED
    assert ended.summary.caps_hit == ()
    assert any("ended from outside" in note for note in ended.summary.notes)


async def test_a_run_ends_when_its_engine_is_gone() -> None:
    async with lab() as run:
        warden = await run.start(run.config("scripted", steps({"shell": "touch up; sleep 600"})))
        await run.until(lambda: (run.workspace / "up").exists())
        assert warden.stdin is not None
        warden.stdin.close()
        ended = await run.finish()
    assert ended.summary.ending is Ending.STOPPED


async def test_a_sandbox_that_dies_is_no_crash_of_the_agent() -> None:
    async with lab() as run:
        await run.start(run.config("scripted", steps({"shell": "touch up; sleep 600"})))
        await run.until(lambda: (run.workspace / "up").exists())
        await run.sandbox.close()
        ended = await run.finish()
    assert ended.exit_code == 1
    assert any("the sandbox failed" in note for note in ended.summary.notes)


async def test_a_sandbox_that_is_not_there_is_named() -> None:
    async with lab() as run:
        config = run.config("scripted", steps(), control=str(run.place / "nowhere.sock"))
        await run.start(config)
        ended = await run.finish()
    assert ended.exit_code == 1
    assert ended.summary.ending is Ending.NOT_STARTED
    assert "nowhere.sock: No such file or directory" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_without_walls_the_count_of_tool_calls_is_said_to_be_derived() -> None:
    async with lab(isolation=Isolation.PROCESS_GROUP) as run:
        ended = await run.run(
            "scripted",
            steps({"shell": "true", "times": 5}, MESSAGE, {"sleep": 600}),
            caps={"wallSeconds": 8, "toolCalls": 5},
        )
    assert ended.value("tool_calls") == 5
    assert ended.measure("tool_calls").availability is Availability.DERIVED
    assert ended.value("model_calls") == 1
    assert ended.summary.caps_hit == (Cap.WALL,)


async def test_the_agent_dies_with_a_killed_warden() -> None:
    beat = {"shell": "touch up; while :; do date +%s.%N >> beats; sleep 0.05; done"}
    async with lab() as run:
        warden = await run.start(run.config("scripted", steps(beat)))
        await run.until(lambda: (run.workspace / "beats").exists())
        warden.kill()
        await warden.wait()
        # The sandbox answers in order: when it answers this, it has ended the agent.
        await run.sandbox.kill_all()
        beats = (run.workspace / "beats").read_text()
        await run.pause()
        assert (run.workspace / "beats").read_text() == beats


async def test_a_wrong_setting_is_named_before_anything_starts() -> None:
    async with lab() as run:
        warden = await run.start(run.config("scripted", {"steps": [{"shel": "true"}]}))
        assert warden.stderr is not None
        message = (await warden.stderr.read()).decode()
        assert await warden.wait() == 2
    assert "settings of adapter scripted: steps.0.shel" in message
    assert "Traceback" not in message


async def test_calls_and_tools_are_exported_where_an_endpoint_is_configured() -> None:
    got: list[bytes] = []

    async def take(request: web.BaseRequest) -> web.Response:
        got.append(await request.read())
        return web.Response(content_type="application/x-protobuf")

    runner = web.ServerRunner(web.Server(take))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with lab() as run:
        await run.run(
            "scripted", steps({"shell": "true"}, MESSAGE), telemetry={"endpoint": endpoint}
        )
    await runner.cleanup()
    everything = b"".join(got)
    assert b"execute_tool Bash" in everything
    assert f"chat {MODEL}".encode() in everything
    assert b"Do the task" not in everything


async def test_any_command_that_takes_the_models_address_is_metered() -> None:
    call = (
        "import json, os, sys, urllib.request as r\n"
        "body = {'model': sys.argv[1], 'max_tokens': 9, 'messages': []}\n"
        "head = {'x-api-key': os.environ['ANTHROPIC_API_KEY']}\n"
        "url = os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages'\n"
        "r.urlopen(r.Request(url, json.dumps(body).encode(), head)).read()\n"
        "print('I have', 'called.', sep='\\n')\n"
        "print('\\nSQLite or Postgres: which one?', end='')\n"
    )
    tool = {"name": "bash", "input": {"command": "true"}}
    async with lab({"turns": [{"text": "ok", "tools": [tool]}]}) as run:
        ended = await run.run(
            "command",
            {
                "argv": "python3 {home}/call.py {model}",
                "resume": "echo 'As you say: {reply}'",
                "files": json.dumps({"call.py": call.replace("{", "{{").replace("}", "}}")}),
            },
        )
    assert ended.summary.ending is Ending.FINISHED
    assert ended.value("model_calls") == 1
    assert ended.value("tool_calls") == 1
    assert ended.measure("tool_calls").availability is Availability.DERIVED
    assert ended.value("interventions") == 1
    said = [step["message"] for step in ended.trajectory()["steps"] if step["source"] == "agent"]
    assert said == [
        "I have\ncalled.",
        "SQLite or Postgres: which one?",
        "As you say: Use your best judgement.",
    ]
