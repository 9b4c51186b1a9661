"""`python -m agentbench.pod.mock_provider SCRIPT`: serve a script until a signal comes."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from agentbench.pod.mock_provider.script import Script, ScriptError, load_script
from agentbench.pod.mock_provider.server import MockProvider


async def serve(script: Script, host: str, port: int, unix: str | None) -> None:
    """Serve until SIGINT or SIGTERM; says on standard output where, once it listens."""
    provider = MockProvider(script)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    if unix is not None:
        await provider.start_unix(unix)
        where = f"unix:{unix}"
    else:
        where = f"http://{host}:{await provider.start_tcp(host, port)}"
    sys.stdout.write(f"mock provider: {where}\n")
    sys.stdout.flush()
    await stopped.wait()
    await provider.stop()


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and serve. Gives the exit code."""
    parser = argparse.ArgumentParser(prog="mock-provider", description=__doc__)
    parser.add_argument("script", type=Path, help="YAML or JSON, agentbench.mock/v1")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8790, help="port; 0 picks a free one")
    parser.add_argument("--unix", metavar="PATH", help="listen on a Unix socket instead")
    given = parser.parse_args(arguments)
    try:
        script = load_script(given.script)
    except ScriptError as error:
        sys.stderr.write(f"mock-provider: {error}\n")
        return 2
    try:
        asyncio.run(serve(script, given.host, given.port, given.unix))
    except OSError as error:
        sys.stderr.write(f"mock-provider: cannot listen: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
