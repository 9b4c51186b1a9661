"""Arguments and options that several commands share."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from agentbench.cli.remote import Remote

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

STORE_HELP = "Folder with rows and artifacts.  [default: the pack's .agent-bench/store]"
REMOTE_HELP = (
    "Folder with rows and artifacts, or s3://bucket/prefix.  "
    "[default: the pack's .agent-bench/store]"
)


class Address(str):
    """An address of object storage, `s3://bucket/prefix`."""

    __slots__ = ()


class Place(click.Path):
    """A path of this machine, or an address of object storage."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A Path, or an Address."""
        if str(value).startswith("s3://"):
            return Address(value)
        return super().convert(value, param, ctx)


@dataclass(frozen=True, slots=True)
class S3Wishes:
    """What the command line says of object storage."""

    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None

    @property
    def said(self) -> str:
        """The first option that was given; empty if none was."""
        given = {"endpoint": self.endpoint, "region": self.region, "profile": self.profile}
        return next((f"--{name}" for name, value in given.items() if value is not None), "")

    def remote(self, url: str) -> "Remote":
        """The store at an address."""
        from agentbench.cli.remote import remote

        return remote(url, endpoint=self.endpoint, region=self.region, profile=self.profile)


def place_argument(function: Decorated) -> Decorated:
    """The argument PACK, which may also be a campaign in object storage."""
    return click.argument("pack", default=".", type=Place(), metavar="[PACK]")(function)


def place_option(function: Decorated) -> Decorated:
    """The option --pack, for commands whose argument is something else."""
    return click.option(
        "--pack",
        default=".",
        type=Place(),
        help="The pack that the rows belong to, or s3://bucket/prefix/campaign.  "
        "[default: this folder]",
    )(function)


def remote_store_option(function: Decorated) -> Decorated:
    """The option --store, which may also be an address of object storage."""
    return click.option("--store", type=Place(), help=REMOTE_HELP)(function)


def s3_options(function: Decorated) -> Decorated:
    """The options --endpoint, --region and --profile, as one argument `s3`."""

    @functools.wraps(function)
    def called(
        *args: Any, endpoint: str | None, region: str | None, profile: str | None, **rest: Any
    ) -> Any:
        return function(*args, s3=S3Wishes(endpoint, region, profile), **rest)

    decorated: Any = called
    for option in (
        click.option("--profile", help="Profile of ~/.aws with the keys.  [default: $AWS_PROFILE]"),
        click.option("--region", help="S3 region.  [default: $AWS_REGION]"),
        click.option(
            "--endpoint", help="S3 service that is not AWS.  [default: $AWS_ENDPOINT_URL_S3]"
        ),
    ):
        decorated = option(decorated)
    found: Decorated = decorated
    return found


def pack_argument(function: Decorated) -> Decorated:
    """The argument PACK: a folder, its campaign.yaml, or a frozen manifest."""
    return click.argument("pack", default=".", type=click.Path(path_type=Path), metavar="[PACK]")(
        function
    )


def json_option(function: Decorated) -> Decorated:
    """The option --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(
        function
    )


def show_option(function: Decorated) -> Decorated:
    """The option --show."""
    return click.option(
        "--show",
        multiple=True,
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="A folder of toolchains or agents that every run may read; may be given again.",
    )(function)


def example(*lines: str) -> str:
    """The epilog of a command's help: examples, each on a line of its own."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
