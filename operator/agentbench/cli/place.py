"""Where a campaign's rows are: on this machine, or in object storage.

A frozen campaign keeps its rows in `<pack>/.agent-bench/store`. A draft keeps those of each state
of its files apart, in `<pack>/.agent-bench/drafts/<digest>`: rows of two protocols never mix, and
an edited draft starts anew by itself.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentbench.api.campaign import CAMPAIGN_NAME, BenchmarkCampaign, CampaignSpec
from agentbench.app.pack import BundleError
from agentbench.app.pack import load_pack as load_bundle
from agentbench.cli.options import Address, S3Wishes
from agentbench.cli.remote import Remote, documents
from agentbench.core.bundle import PROTOCOL_LAYER
from agentbench.core.keys import adjudications_prefix, freeze_key, protocol_prefix, rows_prefix
from agentbench.core.registered import decode_registered
from agentbench.pack.load import CAMPAIGN_FILE, FREEZE_FILE, FROZEN_FOLDER, Pack, load_pack
from agentbench.pack.prepare import prepare
from agentbench.pack.problems import PackInvalid, Problem
from agentbench.pack.source import Source
from agentbench.store.folder import FolderStore
from agentbench.store.port import Store
from agentbench_analysis.errors import NoRowsError

if TYPE_CHECKING:
    from agentbench.store.s3 import S3Store

OWN_FOLDER = ".agent-bench"

Documents = Iterable[tuple[str, bytes]]
"""Key and content of stored documents, read one by one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A campaign as it is run or was run: what it is, and the folder or bucket with its rows.

    `named` says that a person named the folder. `texts` gives the protocol's files where the
    pack's folder is not at hand: the bytes of a path, None where there are none.
    """

    pack: Pack
    store: Path | Remote
    named: bool = False
    texts: Callable[[str], bytes | None] | None = None

    @property
    def campaign(self) -> str:
        """The campaign's name in the store."""
        return self.pack.name

    @property
    def site(self) -> Path:
        """Where its site is written by default."""
        return self.store.parent / "site" if isinstance(self.store, Path) else Path("site")

    def seen_from(self, folder: Path) -> str | None:
        """The store's address as seen from a folder; None for one that a browser cannot open."""
        if isinstance(self.store, Path):
            return os.path.relpath(self.store.resolve(), folder.resolve())
        return None

    def open(self) -> Store:
        """The store, which must be there.

        Raises:
            NoRowsError: the campaign has not run.
            PackInvalid: there is no store where a person named one.
        """
        if isinstance(self.store, Remote):
            return self.store.open()
        if self.store.is_dir():
            return FolderStore(self.store)
        if self.named:
            cure = "Name the folder that agent-bench run --store was given."
            missing = Problem(file=str(self.store), message="there is no such store", cure=cure)
            raise PackInvalid([missing])
        raise NoRowsError(
            "no rows yet", file=str(self.store), cure=f"Run agent-bench run {self.pack.root}."
        )

    def rows(self) -> Documents:
        """Key and content of every row, in the order of their keys."""
        return self._documents(rows_prefix(self.campaign))

    def adjudications(self) -> Documents:
        """Key and content of every adjudication."""
        return self._documents(adjudications_prefix(self.campaign))

    def _documents(self, prefix: str) -> Documents:
        store = self.open()
        if isinstance(self.store, Remote):
            return documents(store, store.list(prefix))
        return ((key, store.get(key)) for key in store.list(prefix))


def current(path: Path, *, draft: bool = False) -> Pack:
    """The campaign that a path means: the frozen manifest of a pack that has one.

    Args:
        path: a pack's folder, its campaign.yaml or a frozen manifest.
        draft: whether the draft is meant even where the pack was frozen.
    """
    manifest = path / FROZEN_FOLDER / CAMPAIGN_FILE
    frozen = path.is_dir() and (path / FREEZE_FILE).exists() and manifest.exists()
    return load_pack(manifest if frozen and not draft else path)


def folder_to_run(pack: Pack, digest: str, store: Path | None) -> Path:
    """The folder that the rows of a run go to."""
    return store or _own(pack, digest)


def place_to_read(
    path: Path | Address,
    store: Path | Address | None,
    *,
    draft: bool = False,
    s3: S3Wishes | None = None,
) -> Place:
    """Where the rows of a pack are: for a draft, those of its files now, or else the newest.

    Args:
        path: a pack, or the address of a campaign in object storage.
        store: a folder or an address, where a person named one.
        draft: whether the draft is meant even where the pack was frozen.
        s3: how object storage is reached.

    Raises:
        PackInvalid, NoRowsError, RegisteredError: there is no such campaign.
    """
    s3 = s3 or S3Wishes()
    if isinstance(path, Address):
        return place_in_store(s3.remote(path))
    pack = current(path, draft=draft)
    if isinstance(store, Address):
        return Place(pack, s3.remote(store), named=True)
    if s3.said:
        problem = Problem(
            file=str(path), message=f"{s3.said} is about object storage, and none is named",
            cure="Name a store: --store s3://bucket/prefix.",
        )  # fmt: skip
        raise PackInvalid([problem])
    if store is not None:
        return Place(pack, store, named=True)
    if pack.frozen:
        return Place(pack, _own(pack, ""))
    drafts = pack.root / OWN_FOLDER / "drafts"
    found = (
        sorted(drafts.iterdir(), key=lambda each: each.stat().st_mtime) if drafts.is_dir() else []
    )
    if not found:
        return Place(pack, drafts)
    now = _digest_now(pack)
    exact = next((each for each in found if now is not None and each == _own(pack, now)), None)
    return Place(pack, exact or found[-1])


def _own(pack: Pack, digest: str) -> Path:
    folder = pack.root / OWN_FOLDER
    if pack.frozen:
        return folder / "store"
    return folder / "drafts" / digest.removeprefix("sha256:")[:12]


def _digest_now(pack: Pack) -> str | None:
    """The digest of a draft's files, None while they are not whole."""
    try:
        return prepare(pack).digest
    except (ValueError, OSError):
        return None


def place_in_store(remote: Remote) -> Place:
    """A campaign by its address: `s3://bucket/prefix/campaign`, or the only one of a prefix.

    Raises:
        NoRowsError: there is no campaign.
        PackInvalid: there are several; they are named.
        RegisteredError: its registered protocol is missing, or cannot be read.
    """
    around, name = _campaign_at(remote)
    store = around.open()
    numbers = {
        int(number): key
        for key in store.list(protocol_prefix(name))
        if (number := key.removeprefix(protocol_prefix(name)).removesuffix(".json")).isdecimal()
    }
    if not numbers:
        problem = Problem(
            file=f"{around}/{protocol_prefix(name)}",
            message="the campaign's protocol is not in the store",
            cure="Name its frozen pack: PACK --store s3://bucket/prefix.",
        )
        raise PackInvalid([problem])
    key = numbers[max(numbers)]
    spec = decode_registered(store.get(key), key).spec
    source = Source(file=f"{around}/{key}", data={}, lines={}, written={})
    campaign = BenchmarkCampaign(metadata={"name": name}, spec=spec)
    return Place(
        Pack(Path(), Path(), campaign, source), around, named=True, texts=bundle_texts(spec, store)
    )


def bundle_texts(spec: CampaignSpec, store: Store) -> Callable[[str], bytes | None]:
    """The protocol's files, from the bundle in a store; none if it is not there."""
    files: dict[tuple[str, str], bytes] | None = None

    def read(path: str) -> bytes | None:
        nonlocal files
        if files is None:
            try:
                files = load_bundle(spec, store).files
            except BundleError:
                files = {}
        return files.get((PROTOCOL_LAYER, path))

    return read


def _campaign_at(remote: Remote) -> tuple[Remote, str]:
    """The prefix around a campaign, and its name."""
    if not remote.bucket_only:
        around, name = remote.parent
        if around.open().read(freeze_key(name)) is not None:
            return around, name
    store = remote.open()
    names = [
        name
        for name in cast("S3Store", store).folders()
        if CAMPAIGN_NAME.fullmatch(name) and store.read(freeze_key(name)) is not None
    ]
    if len(names) == 1:
        return remote, names[0]
    if not names:
        raise NoRowsError(
            "there is no campaign", file=str(remote),
            cure="Name s3://bucket/prefix as the campaign's spec.store.url does.",
        )  # fmt: skip
    raise PackInvalid(
        [
            Problem(
                file=str(remote),
                message=f"there are {len(names)} campaigns: {', '.join(sorted(names)[:10])}",
                cure=f"Name one: {remote.url.rstrip('/')}/{sorted(names)[0]}.",
            )
        ]
    )
