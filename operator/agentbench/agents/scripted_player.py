"""Plays a script of steps as if it were an agent. Runs inside the sandbox; standard library only.

    python3 scripted_player.py SCRIPT.json [--reply TEXT]

The script holds the steps and where the warden listens. Events go to standard output, one JSON
object a line. A question ends the process with exit 0; the next start with `--reply` goes on
behind it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Request = tuple[str, Json, dict[str, str]]


class Stop(Exception):
    """The script ends here, with this exit code."""

    def __init__(self, code: int) -> None:
        self.code = code


class Player:
    """Plays steps, one after another."""

    def __init__(self, script: Json, state: Path) -> None:
        self.script = script
        self.state = state
        self.lock = threading.Lock()
        self.calls = 0
        self.number = 0

    def emit(self, kind: str, **fields: Any) -> None:
        """Print one event."""
        with self.lock:
            sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
            sys.stdout.flush()

    def play(self, steps: list[Json], first: int = 0) -> None:
        """Play the steps from number `first` on."""
        for number in range(first, len(steps)):
            self.number = number
            step = steps[number]
            for _ in range(step.get("times", 1)):
                self.step(step)

    def step(self, step: Json) -> None:
        """Play one step as often at once as it says."""
        action = next(name for name in ACTIONS if name in step)
        together = step.get("parallel", 1)
        if together == 1:
            ACTIONS[action](self, step[action], step)
            return
        failed: list[Stop] = []

        def one() -> None:
            try:
                ACTIONS[action](self, step[action], step)
            except Stop as stop:
                failed.append(stop)

        threads = [threading.Thread(target=one) for _ in range(together)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def tool(
        self, name: str, arguments: Json, step: Json, act: Callable[[], tuple[bool, str]]
    ) -> None:
        """Ask the hook as real agents do, then act; a denied call does not run."""
        with self.lock:
            self.calls += 1
            call = f"call_{os.getpid()}_{self.calls}"
        self.emit("tool_call", id=call, tool=name, input=arguments)
        if step.get("hook", True):
            answer = self.ask_hook(name, arguments, call)
            decision = answer.get("hookSpecificOutput", {}).get("permissionDecision", "allow")
            if decision == "deny":
                self.emit("tool_result", id=call, ok=False, denied=True, output="denied by hook")
                if answer.get("continue") is False and not step.get("stubborn", False):
                    self.emit("stopped", reason=answer.get("stopReason", ""))
                    raise Stop(0)
                return
        ok, output = act()
        self.emit("tool_result", id=call, ok=ok, output=output)

    def ask_hook(self, name: str, arguments: Json, call: str) -> Json:
        """Ask whether a tool may run; no answer means no."""
        body = {
            "hook_event_name": "PreToolUse",
            "session_id": self.script["session"],
            "tool_name": name,
            "tool_input": arguments,
            "tool_use_id": call,
        }
        try:
            answer: Json = json.loads(post(self.script["hookUrl"], body, {}, 30))
        except (OSError, ValueError) as error:
            reason = f"the hook did not answer: {error}"
            return {"hookSpecificOutput": {"permissionDecision": "deny"}, "reason": reason}
        return answer

    def shell(self, command: str, step: Json) -> None:
        """Run a command in the workspace: one tool call."""

        def act() -> tuple[bool, str]:
            done = subprocess.run(
                ["sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=step.get("timeout"),
            )
            return done.returncode == 0, done.stdout.decode("utf-8", "replace")

        self.tool("Bash", {"command": command}, step, act)

    def write(self, what: Json, step: Json) -> None:
        """Write a file in the workspace: one tool call."""

        def act() -> tuple[bool, str]:
            path = Path(what["path"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(what["content"])
            return True, f"wrote {path}"

        self.tool("Write", {"file_path": what["path"]}, step, act)

    def named_tool(self, what: Json, step: Json) -> None:
        """Call a tool that does nothing but exist: one tool call."""
        self.tool(what.get("name", "Tool"), what.get("input", {}), step, lambda: (True, ""))

    def say(self, text: str, step: Json) -> None:
        """Say something."""
        self.emit("message", text=text)

    def sleep(self, seconds: float, step: Json) -> None:
        """Wait."""
        time.sleep(seconds)

    def question(self, text: str, step: Json) -> None:
        """Ask a blocking question: ends the process; a reply goes on behind it."""
        self.emit("message", text=text)
        self.emit("question", text=text)
        self.state.write_text(json.dumps({"next": self.number + 1}))
        raise Stop(0)

    def crash(self, how: Json, step: Json) -> None:
        """End at once: by a signal, or with an exit code and no word about it."""
        if "signal" in how:
            number = getattr(signal, "SIG" + how["signal"])
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            time.sleep(5)
        os._exit(how.get("exit", 1))

    def fork(self, what: Json, step: Json) -> None:
        """Start a daemon that plays steps of its own and outlives this process."""
        if os.fork():
            return
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        try:
            self.play(what["steps"])
        except Stop as stop:
            os._exit(stop.code)
        finally:
            os._exit(0)

    def apply(self, folder: str, step: Json) -> None:
        """Lay a folder's files over the workspace; `.remove` lists what to delete."""
        source = Path(folder)
        if not source.is_dir():
            self.emit("error", message=f"there is no folder {folder} to apply")
            raise Stop(1)
        for path in sorted(source.rglob("*")):
            target = Path(path.relative_to(source))
            if path.is_dir() and not path.is_symlink():
                target.mkdir(parents=True, exist_ok=True)
            elif str(target) == ".remove":
                for line in path.read_text().splitlines():
                    remove(line.strip())
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.is_symlink() or target.exists():
                    target.unlink()
                shutil.copy2(path, target, follow_symlinks=False)
        self.emit("message", text=f"applied {folder}")

    def model(self, what: Json, step: Json) -> None:
        """Call the model and report what came back."""
        api: str = what.get("api", "anthropic")
        path, body, headers = REQUESTS[api](what, self.script)
        url = f"{what.get('url', self.script['modelUrl'])}{path}"
        problem = ""
        status: int | None = None
        for attempt in range(what.get("retries", 0) + 1):
            try:
                text = post(url, body, headers, what.get("timeout", 600))
            except urllib.error.HTTPError as error:
                problem, status = error.read().decode("utf-8", "replace"), error.code
            except (OSError, ValueError) as error:
                problem, status = str(error), None
            else:
                self.emit("model", api=api, bytes=len(text))
                return
            self.emit("retry", status=status, attempt=attempt + 1, message=problem[:2000])
        if what.get("onError", "stop") == "stop":
            self.emit("error", message=problem[:2000], status=status)
            raise Stop(1)


def anthropic(what: Json, script: Json) -> Request:
    """An Anthropic Messages request."""
    body = {
        "model": what.get("model", script["model"]),
        "max_tokens": what.get("maxTokens", 1024),
        "stream": what.get("stream", True),
        "messages": [{"role": "user", "content": what.get("prompt", "go on")}],
    }
    headers = {"x-api-key": script["apiKey"], "anthropic-version": "2023-06-01"}
    return "/v1/messages", body, headers


def openai(what: Json, script: Json) -> Request:
    """An OpenAI Responses request."""
    body = {
        "model": what.get("model", script["model"]),
        "stream": what.get("stream", True),
        "input": what.get("prompt", "go on"),
    }
    return "/v1/responses", body, {"authorization": "Bearer " + script["apiKey"]}


def openai_chat(what: Json, script: Json) -> Request:
    """An OpenAI Chat Completions request."""
    body = {
        "model": what.get("model", script["model"]),
        "stream": what.get("stream", True),
        "messages": [{"role": "user", "content": what.get("prompt", "go on")}],
    }
    if body["stream"]:
        body["stream_options"] = {"include_usage": True}
    return "/v1/chat/completions", body, {"authorization": "Bearer " + script["apiKey"]}


REQUESTS = {"anthropic": anthropic, "openai": openai, "openai-chat": openai_chat}
ACTIONS: dict[str, Callable[[Player, Any, Json], None]] = {
    "shell": Player.shell,
    "write": Player.write,
    "tool": Player.named_tool,
    "model": Player.model,
    "say": Player.say,
    "question": Player.question,
    "sleep": Player.sleep,
    "crash": Player.crash,
    "fork": Player.fork,
    "apply": Player.apply,
}


def post(url: str, body: Json, headers: dict[str, str], timeout: float) -> bytes:
    """POST a JSON object; the answer's bytes."""
    request = urllib.request.Request(
        url,
        json.dumps(body).encode(),
        {"content-type": "application/json", **headers},
        method="POST",
    )
    # No proxy of the environment: the warden's address is always direct.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=timeout) as answer:
        content: bytes = answer.read()
    return content


def remove(path: str) -> None:
    """Delete a file or a folder of the workspace, if it is there."""
    target = Path(path)
    if not path or target.is_absolute() or ".." in target.parts:
        return
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    elif target.is_symlink() or target.exists():
        target.unlink()


def main(arguments: list[str]) -> int:
    """Play the script named on the command line."""
    path = Path(arguments[0])
    script = json.loads(path.read_text())
    state = path.with_suffix(".state")
    player = Player(script, state)
    first = 0
    player.emit("session", id=script["session"])
    if len(arguments) == 3 and arguments[1] == "--reply" and state.exists():
        first = json.loads(state.read_text())["next"]
        player.emit("reply", text=arguments[2])
    try:
        player.play(script["steps"], first)
    except Stop as stop:
        return stop.code
    except KeyboardInterrupt:
        player.emit("error", message="interrupted")
        return 130
    player.emit("done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
