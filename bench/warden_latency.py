"""Added time to first streamed byte of the warden's proxy, with 16 streams at once.

    python -m bench.warden_latency [--rounds 60]

Calls go in turns straight to the upstream and through the proxy; what is printed is the
difference of the two distributions' percentiles, in milliseconds.
"""

import argparse
import asyncio

from bench.warden_lab import (
    a_request,
    in_turns,
    percentile,
    running,
    say,
    serve_proxy,
    serve_upstream,
)

STREAMS = 16
PAUSE = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    with running(serve_upstream, PAUSE) as upstream, running(serve_proxy, upstream.port) as proxy:
        urls = [f"http://127.0.0.1:{port}/v1/messages" for port in (upstream.port, proxy.port)]
        samples = asyncio.run(in_turns(urls, a_request("messages"), STREAMS, rounds))
    direct, proxied = ([sample.first_byte * 1000 for sample in series] for series in samples)
    for name, share in (("p50", 0.50), ("p99", 0.99)):
        say(f"direct_ttfb_{name}", percentile(direct, share), "ms")
        say(f"proxied_ttfb_{name}", percentile(proxied, share), "ms")
        say(f"added_ttfb_{name}", percentile(proxied, share) - percentile(direct, share), "ms")


if __name__ == "__main__":
    main()
