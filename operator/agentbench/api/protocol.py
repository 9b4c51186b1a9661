"""What is registered before the first run: the protocol's identity, freeze and amendments."""

from typing import Annotated, Literal

from pydantic import Field

from agentbench.api.base import Id, Line, Model, Name, Path, Sha256, Text, Timestamp

Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$", max_length=64)]
Date = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", max_length=10)]


class Freeze(Model):
    """The moment after which nothing that can move a result may change."""

    digest: Sha256 = Field(description="Digest of the frozen spec fields and the bundle.")
    commit: Commit | None = Field(None, description="Git commit of the pack at the freeze.")
    frozen_at: Timestamp = Field(description="When the protocol was frozen, UTC.")


class Bundle(Model):
    """The pack as content-addressed layers, named by its manifest."""

    url: str = Field(
        max_length=1000,
        description="Folder that holds bundles/ and layers/: s3://bucket/prefix or a path.",
    )
    sha256: Sha256 = Field(description="sha256 of the bundle's manifest.")


class Amendment(Model):
    """A dated change after the freeze; the list only ever grows."""

    seq: int = Field(ge=1, le=1000, description="1, 2, 3, ... without a gap.")
    date: Date = Field(description="Day of the amendment, YYYY-MM-DD.")
    change: Text = Field(description="What changed.")
    why: Text = Field(description="Why it changed.")
    any_run_started: bool = Field(description="Whether any run had started on that day.")
    effects: Text = Field("", description="Which results it touches, and how.")


class OpenItem(Model):
    """Something that must be settled before the freeze, or published as unsettled."""

    id: Id = Field(description="Id of the item, such as O1.")
    text: Text = Field(description="What is open.")
    blocks_freeze: bool = Field(True, description="Whether a freeze is refused while it is open.")
    resolution: Text = Field("", description="How it was settled; empty while it is open.")
    files: tuple[Path, ...] = Field(
        (), max_length=50, description="Files or folders of the pack that are still to be made."
    )


class Verification(Model):
    """How far a pinned fact was checked, published with it."""

    status: Literal["verified", "unverified"] = Field(description="Whether it was confirmed.")
    text: Text = Field(description="By whom or from where.")
    date: Date | None = Field(None, description="Day of the check, YYYY-MM-DD.")


class Protocol(Model):
    """Identity of the protocol, and its freeze."""

    id: Id = Field(description="Protocol id; never reused.")
    title: Line = Field("", description="Title for people.")
    draft: bool = Field(
        False, description="True for a pack in the making: its rows give no verdict."
    )
    text: Path | None = Field(None, description="The full protocol's text, for the protocol page.")
    freeze: Freeze | None = Field(None, description="Set by `agent-bench freeze`; never edited.")
    bundle: Bundle | None = Field(None, description="Set by `agent-bench freeze`; never edited.")
    amendments: tuple[Amendment, ...] = Field((), max_length=100, description="Append only.")
    harness_authors: tuple[Name, ...] = Field(
        (), max_length=50, description="People who may not adjudicate."
    )
    open_items: tuple[OpenItem, ...] = Field((), max_length=50, description="Unsettled matters.")
    locks: tuple[Path, ...] = Field(
        (), max_length=50, description="Lock files that the freeze covers beside the named ones."
    )
