"""Model calls a second that the warden's proxy carries on one core.

    python -m bench.warden_throughput [--calls 3000]

32 clients call as fast as they are answered, with requests of 50 kB and short streams. Printed are
calls a second of wall time, and calls a second of the proxy's own processor time.
"""

import argparse
import asyncio
import time

import psutil
from bench.warden_lab import a_request, in_turns, running, say, serve_proxy, serve_upstream

CLIENTS = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3000)
    calls = parser.parse_args().calls // CLIENTS * CLIENTS
    with running(serve_upstream, 0.0) as upstream, running(serve_proxy, upstream.port) as proxy:
        urls = [f"http://127.0.0.1:{proxy.port}/v1/messages"]
        process = psutil.Process(proxy.pid)
        used, began = sum(process.cpu_times()[:2]), time.perf_counter()
        asyncio.run(in_turns(urls, a_request("messages"), CLIENTS, calls // CLIENTS))
        seconds = time.perf_counter() - began
        used = sum(process.cpu_times()[:2]) - used
    made = calls + CLIENTS  # the warm-up's too
    say("calls_per_second", made / seconds, "1/s")
    say("calls_per_core_second", made / used, "1/s")


if __name__ == "__main__":
    main()
