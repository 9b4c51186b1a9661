"""The entry point: finds the command, runs it, and turns its errors into exit codes."""

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from agentbench.cli.exits import Exit

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("Packs", "Make a pack to edit: it validates and runs as it is."),
    "validate": ("Packs", "Say everything that is wrong with a pack."),
    "doctor": ("Packs", "Say what this machine or a cluster lacks, and how to mend it."),
    "plan": ("Packs", "List every run in its order, and the most they can cost."),
    "gate": ("Packs", "Try every check on final states whose verdict is known."),
    "power": ("Packs", "Simulate the analysis before the freeze."),
    "freeze": ("Packs", "Freeze a pack that has passed its gates."),
    "verify": ("Packs", "Compute a freeze again and name what differs."),
    "push": ("Runs", "Bring a frozen pack's bundle to its store."),
    "run": ("Runs", "Run a campaign, here or on a cluster, or go on with it."),
    "list": ("Runs", "List the rows of a campaign, or a cluster's campaigns."),
    "show": ("Runs", "Show one run: its outcome, checks, metrics and artifacts."),
    "logs": ("Runs", "Print what a run's agent did, or does on a cluster."),
    "suspend": ("Runs", "Start no more runs of a campaign on a cluster."),
    "resume": ("Runs", "Start runs of a suspended campaign again."),
    "cancel": ("Runs", "End a campaign on a cluster for good."),
    "report": ("Results", "Print the verdict and its numbers."),
    "tables": ("Results", "Make every table again from results.json alone."),
    "site": ("Results", "Write the results as a website that works offline."),
    "metrics": ("Results", "Show the metric catalog, or measure records by it."),
    "crd": ("Tools", "Print the Kubernetes resource definitions."),
    "mock-provider": ("Tools", "Serve a scripted model provider for trials."),
    "completion": ("Tools", "Print the shell's completion script."),
}
"""Every command, its part of the help, and its line there: no command is loaded for a list."""

EXTRAS = frozenset({"kubernetes", "urllib3", "boto3", "botocore"})
"""Libraries that a run on one machine does not need, and a cluster or object storage does."""

EXIT_CODES = """\b
Exit codes: 0 done; 1 the answer is no (a gate fails, no rows); 2 bad input, nothing
written; 3 a store, service or the machine failed; 130 interrupted (a run goes on from
where it was when it is started again)."""


class LazyGroup(click.Group):
    """A group that loads a command's module when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = importlib.import_module(f"agentbench.cli.commands.{name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; a misspelt one is told its nearest."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, by part."""
        for part in dict.fromkeys(part for part, _ in COMMANDS.values()):
            with formatter.section(part):
                formatter.write_dl(
                    [(name, line) for name, (group, line) in COMMANDS.items() if group == part]
                )


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"agent-bench {importlib.metadata.version('agent-bench')}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExamples:\n  agent-bench init my-bench\n  agent-bench run my-bench\n"
    "  agent-bench report my-bench\n\n" + EXIT_CODES,
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              help="Print the version.")  # fmt: skip
def cli() -> None:
    """Pre-registered benchmarks of coding agents, with verdicts chosen before the first run."""


def main(args: Sequence[str] | None = None) -> None:
    """Run a command line and exit with its code."""
    sys.exit(run(list(sys.argv[1:] if args is None else args)))


def run(args: list[str]) -> int:
    """Run a command line; its exit code."""
    try:
        code: Any = cli.main(args=args, prog_name="agent-bench", standalone_mode=False)
    except click.exceptions.Abort:
        return Exit.INTERRUPTED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return Exit.BAD_INPUT
    except BrokenPipeError:
        # The reader has seen enough (`| head`). What is still buffered must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        click.echo(
            f"Error: {error.name} is not here: pip install 'agent-bench[operator]'.", err=True
        )
        return Exit.FAILED
    except (ValueError, RuntimeError, OSError) as error:
        from agentbench.cli.errors import exit_code, explain

        code = exit_code(error)
        if code is None:
            raise
        click.echo(explain(error), err=True)
        return int(code)
    return int(code) if isinstance(code, int) else Exit.OK
