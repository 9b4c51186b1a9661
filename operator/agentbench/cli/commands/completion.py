"""`agent-bench completion`: the shell's completion script."""

import click
from click.shell_completion import get_completion_class

from agentbench.cli.options import example

VARIABLE = "_AGENT_BENCH_COMPLETE"


@click.command(
    epilog=example(
        "agent-bench completion bash > ~/.local/share/bash-completion/completions/agent-bench",
        'agent-bench completion zsh > "${fpath[1]}/_agent-bench"',
        "agent-bench completion fish > ~/.config/fish/completions/agent-bench.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL: commands, options, packs and run ids."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"No completion for {shell}.")
    complete = found(click.Group(), {}, "agent-bench", VARIABLE)
    # The template, not `source()`: that starts the shell to ask for its version.
    click.echo(complete.source_template % complete.source_vars())
