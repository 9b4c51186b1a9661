import asyncio
import json
import signal
import sys
from pathlib import Path

import aiohttp
import pytest
from tests.fakes.metering import CLAUDE, a_provider

from agentbench.pod.mock_provider import Script, ScriptError, read_script
from agentbench.pod.mock_provider.script import load_script

SCRIPT = """
turns:
  - text: I will look.
    tools: [{name: Bash, input: {command: ls}}]
    usage: {input: 7, cacheRead: 9, output: 3}
  - text: Done.
conversations:
  - match: SUBAGENT
    turns: [{text: From below.}]
"""


async def ask(session: aiohttp.ClientSession, url: str, content: str) -> tuple[int, str]:
    body = {"model": CLAUDE, "messages": [{"role": "user", "content": content}]}
    async with session.post(f"{url}/v1/messages", json=body) as answer:
        return answer.status, await answer.text()


async def test_turns_come_in_order_and_conversations_have_their_own() -> None:
    script = read_script(SCRIPT, "s.yaml").model_dump(by_alias=True)
    async with a_provider(script) as (provider, url), aiohttp.ClientSession() as session:
        assert "I will look." in (await ask(session, url, "x"))[1]
        assert "From below." in (await ask(session, url, "SUBAGENT"))[1]
        assert "Done." in (await ask(session, url, "x"))[1]
        assert "Done." in (await ask(session, url, "x"))[1]
        async with session.get(f"{url}/__calls") as answer:
            calls = await answer.json()
        assert [call["number"] for call in calls] == [1, 2, 3, 4]
        assert calls[1]["body"]["messages"][0]["content"] == "SUBAGENT"
        async with session.post(f"{url}/__reset") as answer:
            assert answer.status == 200
        assert "I will look." in (await ask(session, url, "x"))[1]
        assert len(provider.calls) == 1


async def test_the_same_script_gives_the_same_bytes() -> None:
    texts = []
    for _ in range(2):
        script = read_script(SCRIPT, "s.yaml").model_dump(by_alias=True)
        async with a_provider(script) as (_, url), aiohttp.ClientSession() as session:
            texts.append([await ask(session, url, "x") for _ in range(3)])
    assert texts[0] == texts[1]


async def test_a_fault_hits_as_often_as_it_says_and_then_the_turn_comes() -> None:
    fault = {"kind": "status", "status": 429, "times": 2, "headers": {"retry-after": "1"}}
    async with (
        a_provider({"turns": [{"text": "At last.", "fault": fault}]}) as (_, url),
        aiohttp.ClientSession() as session,
    ):
        statuses = [(await ask(session, url, "x"))[0] for _ in range(3)]
        assert statuses == [429, 429, 200]


async def test_a_script_that_is_over_says_so_if_it_is_to() -> None:
    async with (
        a_provider({"turns": [{"text": "once"}], "after": "error"}) as (_, url),
        aiohttp.ClientSession() as session,
    ):
        assert (await ask(session, url, "x"))[0] == 200
        status, body = await ask(session, url, "x")
        assert status == 500
        assert "script_over" in body


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turns: [", "not YAML or JSON"),
        ("- 1", "not an object"),
        ("{}", "there are no turns"),
        ("turns: [{txt: hi}]", r"turns\.0\.txt"),
        ("turns: [{usage: {output: -1}}]", r"turns\.0\.usage\.output: .*found -1"),
        ("turns: [{fault: {kind: boom}}]", r"turns\.0\.fault\.kind"),
    ],
)
def test_a_bad_script_names_its_file_and_field(text: str, said: str) -> None:
    with pytest.raises(ScriptError, match=rf"s\.yaml: .*{said}|s\.yaml: {said}"):
        read_script(text, "s.yaml")


def test_a_script_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"none\.yaml"):
        load_script(tmp_path / "none.yaml")


def test_json_is_a_script_too() -> None:
    assert read_script('{"turns": [{"text": "hi"}]}', "s.json").turns[0].text == "hi"
    assert Script.model_validate({"turns": [{}]}).after == "last"


async def test_the_program_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text(SCRIPT)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agentbench.pod.mock_provider", str(script), "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode().strip()
    url = line.removeprefix("mock provider: ")
    async with aiohttp.ClientSession() as session:
        status, text = await ask(session, url, "x")
    assert status == 200
    assert json.loads(text)["usage"]["cache_read_input_tokens"] == 9
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


async def test_the_program_serves_on_a_unix_socket(tmp_path: Path) -> None:
    script, socket = tmp_path / "s.yaml", tmp_path / "m.sock"
    script.write_text(SCRIPT)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agentbench.pod.mock_provider", str(script)),
        *("--unix", str(socket)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    await process.stdout.readline()
    connector = aiohttp.UnixConnector(str(socket))
    async with aiohttp.ClientSession(connector=connector) as session:
        assert (await ask(session, "http://mock", "x"))[0] == 200
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 0


async def test_a_bad_script_ends_the_program_with_a_message(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text("turns: 1")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agentbench.pod.mock_provider", str(script)),
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert b"s.yaml: turns" in errors
