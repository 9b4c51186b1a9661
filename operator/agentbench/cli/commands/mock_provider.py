"""`agent-bench mock-provider`: a scripted model provider."""

from pathlib import Path

import click

from agentbench.cli.options import example


@click.command(
    epilog=example(
        "agent-bench mock-provider script.yaml --port 8790",
        "ANTHROPIC_BASE_URL=http://127.0.0.1:8790 claude",
    )
)
@click.argument("script", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8790, show_default=True, type=click.IntRange(0, 65535),
    help="Port; 0 picks a free one.",
)  # fmt: skip
@click.option("--unix", help="Listen on a Unix socket of this path instead.")
def command(script: Path, host: str, port: int, unix: str | None) -> int:
    """Serve SCRIPT (YAML or JSON, agentbench.mock/v1) as a model provider, until Ctrl-C.

    It speaks Anthropic Messages, OpenAI Responses and Chat Completions, streaming or not, with
    usage of every kind and faults as the script says. Agents can be tried without a key.
    """
    from agentbench.pod.mock_provider.__main__ import main

    where = ["--unix", unix] if unix else ["--host", host, "--port", str(port)]
    return main([str(script), *where])
