"""`agent-bench crd`: the Kubernetes resource definitions."""

from pathlib import Path

import click

from agentbench.cli.options import example


@click.command(
    epilog=example(
        "agent-bench crd | kubectl apply --server-side -f -", "agent-bench crd --out crds"
    )
)
@click.option("--out", type=click.Path(path_type=Path), help="Write one file each to this folder.")
def command(out: Path | None) -> None:
    """Print the CustomResourceDefinitions of BenchmarkCampaign and BenchmarkRun as YAML."""
    from agentbench.api.schema import crd_files
    from agentbench.pack.atomic import write_whole

    files = crd_files()
    if out is None:
        click.echo("---\n".join(files.values()), nl=False)
        return
    for name, text in files.items():
        write_whole(out / name, text.encode())
        click.echo(out / name)
