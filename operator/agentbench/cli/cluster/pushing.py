"""`agent-bench push`, told on a terminal, in a pipe or as JSON."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType

from agentbench.cli.cluster.access import store_of
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.cluster.options import Reach
from agentbench.cli.options import S3Wishes
from agentbench.cli.pushing import Pushed, State, Tell, push
from agentbench.cli.remote import Remote
from agentbench.cli.screen import Screen
from agentbench.core.keys import bundle_key
from agentbench.pack.load import Pack, frozen_pack
from agentbench.pack.verify import require_verified


def push_bundle(
    path: Path, store: str | None, s3: S3Wishes, reach: Reach | None, *, as_json: bool
) -> None:
    """Push a frozen pack's bundle, and say what became of it."""
    pack = frozen_pack(path)
    require_verified(pack)
    target = _target(pack, store, s3, reach)
    screen = Screen(as_json=as_json)
    layers: list[Pushed] = []
    with Pushing(screen) as telling:

        def tell(pushed: Pushed) -> None:
            telling(pushed)
            if pushed.state is not State.SENDING:
                layers.append(pushed)

        manifest = push(pack, target.open(), tell, verify=True)
    if as_json:
        screen.data(
            {
                "bundle": manifest.sha256,
                "store": target.url,
                "key": bundle_key(manifest.sha256),
                "layers": [
                    {
                        "name": each.layer,
                        "sha256": each.sha256,
                        "bytes": each.size,
                        "state": "uploaded" if each.state is State.UPLOADED else "there",
                    }
                    for each in layers
                ],
            }
        )
    fresh = sum(each.state is State.UPLOADED for each in layers)
    screen.say(
        f"Bundle {manifest.sha256} is in {target}: {len(layers)} layers verified, {fresh} new."
    )


def _target(pack: Pack, store: str | None, s3: S3Wishes, reach: Reach | None) -> Remote:
    """Where to push: an address that was named, or the campaign's store."""
    if store is not None and reach is None:
        return s3.remote(store)
    spec = pack.spec.store
    if reach is not None:
        named = pack.campaign.metadata.get("namespace")
        connection = Reach(reach.kubeconfig, reach.context, reach.namespace or named).connect()
        found = store_of(connection, spec, s3.remote(""))
        return found.at(store) if store is not None else found
    if spec is not None and spec.url.startswith("s3://"):
        given = s3.remote(spec.url)
        endpoint = s3.endpoint or spec.endpoint or given.endpoint
        return Remote(
            url=spec.url,
            endpoint=endpoint,
            region=s3.region or spec.region or given.region,
            profile=s3.profile,
        )
    raise BadCluster(
        f"{pack.source.file}: spec.store names no s3:// address to push to: say --store "
        "s3://bucket/prefix"
    )


class Pushing(AbstractContextManager["Pushing"]):
    """A bar per layer on a terminal; a line per layer elsewhere, on stderr; nothing with --json."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._bars: Tell | None = None
        self._context: AbstractContextManager[object] = nullcontext()
        if screen.rich:
            self._bars, self._context = _bars()

    def __enter__(self) -> "Pushing":
        self._context.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._context.__exit__(kind, error, trace)

    def __call__(self, pushed: Pushed) -> None:
        """Tell one step."""
        if self._bars is not None:
            self._bars(pushed)
        elif pushed.state is not State.SENDING and not self._screen.as_json:
            self._screen.note(f"layer {pushed.layer}: {size(pushed.size)}, {pushed.state}")


def size(number: int) -> str:
    """A number of bytes in its unit: `1.5 MB`."""
    amount = float(number)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def _bars() -> tuple[Tell, AbstractContextManager[object]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskID,
        TextColumn,
        TransferSpeedColumn,
    )

    shown = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=Console(highlight=False, stderr=True),
    )
    tasks: dict[str, TaskID] = {}

    def tell(pushed: Pushed) -> None:
        if pushed.layer not in tasks:
            tasks[pushed.layer] = shown.add_task(pushed.layer, total=pushed.size)
        shown.update(tasks[pushed.layer], completed=pushed.sent)

    return tell, shown
