"""Memory of the warden's proxy after 10,000 calls.

    python -m bench.warden_memory [--calls 10000]

Printed is the resident set of the proxy's process, before and after, in megabytes.
"""

import argparse
import asyncio

import psutil
from bench.warden_lab import a_request, in_turns, running, say, serve_proxy, serve_upstream

CLIENTS = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    calls = parser.parse_args().calls
    with running(serve_upstream, 0.0) as upstream, running(serve_proxy, upstream.port) as proxy:
        urls = [f"http://127.0.0.1:{proxy.port}/v1/messages"]
        process = psutil.Process(proxy.pid)
        say("rss_at_start", process.memory_info().rss / 1e6, "MB")
        asyncio.run(in_turns(urls, a_request("messages"), CLIENTS, calls // CLIENTS))
        say("rss_after_calls", process.memory_info().rss / 1e6, "MB")


if __name__ == "__main__":
    main()
