"""Added latency of the warden's proxy beside that of LiteLLM's proxy, in one run.

    python -m bench.warden_vs_litellm [--rounds 40] [--venv .cache/bench/litellm]

LiteLLM is installed into an environment of its own the first time. Streamed chat completions go in
turns straight to the upstream, through the warden and through LiteLLM, 16 at once. Printed are the
added times to first streamed byte at the median, in milliseconds, and how many times less the
warden's is.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from bench.warden_lab import (
    MODEL,
    a_request,
    in_turns,
    percentile,
    running,
    say,
    serve_proxy,
    serve_upstream,
)

LITELLM = "litellm[proxy]==1.108.7"
STREAMS = 16
PAUSE = 0.05
START_SECONDS = 180


def installed(folder: Path) -> Path:
    """LiteLLM's command in its environment, made if it is not there."""
    command = folder / "bin" / "litellm"
    if not command.exists():
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", LITELLM]
        subprocess.run(pip, check=True)
    return command


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def litellm(command: Path, upstream: int) -> Iterator[int]:
    """Run LiteLLM's proxy in front of the upstream's port; gives its port."""
    port = free_port()
    settings = {
        "model_list": [
            {
                "model_name": MODEL,
                "litellm_params": {
                    "model": f"openai/{MODEL}",
                    "api_base": f"http://127.0.0.1:{upstream}/v1",
                    "api_key": "sk-bench",
                },
            }
        ]
    }
    with TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        config.write_text(yaml.safe_dump(settings))
        env = os.environ | {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_LOG": "ERROR",
            # Without a key it has less to check, which is to its advantage here.
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        }
        env.pop("PYTHONPATH", None)
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(
                [command, "--config", config, "--host", "127.0.0.1", "--port", str(port)],
                env=env,
                stdout=log,
                stderr=log,
                cwd=folder,
            )
            try:
                wait_until_alive(process, port, Path(folder) / "log")
                yield port
            finally:
                process.terminate()
                process.wait()


def wait_until_alive(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    """Wait for LiteLLM's health page; end the bench with its log if it does not come."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness"):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise SystemExit(f"bench: LiteLLM did not start:\n{log.read_text()[-2000:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--venv", type=Path, default=Path(".cache/bench/litellm"))
    given = parser.parse_args()
    command = installed(given.venv.absolute())
    with (
        running(serve_upstream, PAUSE) as upstream,
        running(serve_proxy, upstream.port) as proxy,
        litellm(command, upstream.port) as other,
    ):
        ports = (upstream.port, proxy.port, other)
        urls = [f"http://127.0.0.1:{port}/v1/chat/completions" for port in ports]
        samples = asyncio.run(in_turns(urls, a_request("chat"), STREAMS, given.rounds))
    direct, ours, theirs = (
        percentile([sample.first_byte * 1000 for sample in series], 0.5) for series in samples
    )
    say("warden_added_ttfb_p50", ours - direct, "ms")
    say("litellm_added_ttfb_p50", theirs - direct, "ms")
    say("times_less", (theirs - direct) / (ours - direct), "x")


if __name__ == "__main__":
    main()
    sys.exit(0)
