"""A pack, loaded: its campaign.yaml as a model, and where everything in it stands."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from agentbench.api.campaign import BenchmarkCampaign, CampaignSpec
from agentbench.pack.explain import explain
from agentbench.pack.problems import PackInvalid, Problem
from agentbench.pack.source import Source, read_yaml

CAMPAIGN_FILE = "campaign.yaml"
FROZEN_FOLDER = "frozen"
FREEZE_FILE = "locks/FREEZE"
GATES_FILE = "locks/GATES"


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack's folder, its campaign and the document it was read from.

    `folder` holds that document: it is `root`, or `root/frozen` for a frozen manifest.
    """

    root: Path
    folder: Path
    campaign: BenchmarkCampaign
    source: Source

    @property
    def spec(self) -> CampaignSpec:
        """The campaign's spec."""
        return self.campaign.spec

    @property
    def name(self) -> str:
        """The campaign's name."""
        return self.campaign.name

    @property
    def frozen_manifest(self) -> Path:
        """The frozen manifest, where a freeze writes it."""
        return self.root / FROZEN_FOLDER / CAMPAIGN_FILE

    @property
    def frozen(self) -> bool:
        """Whether this was read from a frozen manifest."""
        return self.spec.protocol.freeze is not None


def load_pack(path: Path) -> Pack:
    """Load a pack from its folder, its campaign.yaml, or a frozen manifest.

    Raises:
        PackInvalid: with every problem of the file, each with its line and cure.
    """
    file = path / CAMPAIGN_FILE if path.is_dir() else path
    folder = file.parent
    root = folder.parent if folder.absolute().name == FROZEN_FOLDER else folder
    source = read_yaml(file, str(file))
    return Pack(root, folder, parse_campaign(source), source)


def frozen_pack(path: Path) -> Pack:
    """Load the frozen manifest of a pack, or one that the path names.

    Raises:
        PackInvalid: there is none, or it is not frozen.
    """
    inside = path / FROZEN_FOLDER / CAMPAIGN_FILE
    pack = load_pack(inside if inside.is_file() else path)
    if not pack.frozen:
        raise PackInvalid(
            [
                pack.source.problem(
                    ("spec", "protocol", "freeze"),
                    "the pack is not frozen",
                    "Run agent-bench freeze, or name a frozen/campaign.yaml.",
                )
            ]
        )
    return pack


def parse_campaign(source: Source) -> BenchmarkCampaign:
    """A campaign from its document.

    Raises:
        PackInvalid: the document is no BenchmarkCampaign.
    """
    if not isinstance(source.data, dict):
        raise PackInvalid(
            [
                Problem(
                    file=source.file,
                    line=1,
                    message="is no BenchmarkCampaign",
                    cure="Begin with apiVersion: agentbench.dev/v1alpha1; agent-bench init "
                    "writes one to edit.",
                )
            ]
        )
    try:
        campaign = BenchmarkCampaign.model_validate(source.data)
    except ValidationError as error:
        raise PackInvalid(explain(error, BenchmarkCampaign, source)) from error
    missing = [
        source.problem((key,), "is missing", f"Add it: {key}: {wanted}")
        for key, wanted in (
            ("apiVersion", "agentbench.dev/v1alpha1"),
            ("kind", "BenchmarkCampaign"),
            ("metadata", "{name: my-bench}"),
        )
        if key not in source.data
    ]
    if missing:
        raise PackInvalid(missing)
    return campaign
