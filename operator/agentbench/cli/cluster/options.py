"""Options of commands that work on a cluster."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from agentbench.cli.cluster.connection import Connection

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reach:
    """Which cluster the command line means."""

    kubeconfig: Path | None = None
    context: str | None = None
    namespace: str | None = None

    def connect(self) -> "Connection":
        """Connect to it; BadCluster if there is no such cluster."""
        from agentbench.cli.cluster.connection import connect

        return connect(self.kubeconfig, self.context, self.namespace)


def complete_context(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of the kubeconfig's contexts."""
    from agentbench.cli.cluster.kubeconfig import contexts_of

    known = contexts_of(ctx.params.get("kubeconfig"))
    return [CompletionItem(name) for name in known if name.startswith(incomplete)]


def cluster_options(*, implied: bool = False) -> Callable[[Decorated], Decorated]:
    """The options --cluster, --namespace, --context and --kubeconfig, as one argument `reach`.

    `reach` is None without --cluster, unless the command is `implied` to be about one.
    """

    def decorate(function: Decorated) -> Decorated:
        @functools.wraps(function)
        def called(
            *args: Any,
            cluster: bool,
            namespace: str | None,
            context: str | None,
            kubeconfig: Path | None,
            **rest: Any,
        ) -> Any:
            named = {"--namespace": namespace, "--context": context, "--kubeconfig": kubeconfig}
            without = [name for name, value in named.items() if value is not None]
            if without and not cluster and not implied:
                raise click.UsageError(f"{without[0]} is about a cluster: say --cluster, too.")
            reach = Reach(kubeconfig, context, namespace) if cluster or implied else None
            return function(*args, reach=reach, **rest)

        options = (
            click.option("--cluster", is_flag=True, help="On Kubernetes, not on this machine."),
            click.option("-n", "--namespace", help="Of the campaign.  [default: the context's]"),
            click.option("--context", shell_complete=complete_context, help="Of the kubeconfig."),
            click.option(
                "--kubeconfig",
                type=click.Path(path_type=Path, dir_okay=False),
                help="[default: $KUBECONFIG, or ~/.kube/config]",
            ),
        )
        decorated: Any = called
        for option in reversed(options):
            decorated = option(decorated)
        found: Decorated = decorated
        return found

    return decorate


def only_without_cluster(reach: Reach | None, **given: object) -> None:
    """Refuse options that mean nothing on a cluster."""
    for name, value in given.items():
        if reach is not None and value not in (None, False, ()):
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{option} is about this machine, and means nothing with --cluster."
            )
