"""A bundle: a pack as a manifest and content-addressed layers."""

import json
from typing import Literal

from pydantic import Field

from agentbench.api.base import Model, Path, Sha256
from agentbench.core.digest import canonical, sha256_of

BUNDLE_SCHEMA: Literal["agentbench.bundle/v1"] = "agentbench.bundle/v1"

PROTOCOL_LAYER = "protocol"
CHECKS_LAYER = "checks"
GATE_LAYER = "gate"
SCRIPTS_LAYER = "scripts"


def seed_layer(task: str, stack: str) -> str:
    """Name of the layer with a task's start state on a stack."""
    return f"seed/{task}/{stack}"


def solution_layer(task: str, stack: str) -> str:
    """Name of the layer with a task's reference solution on a stack."""
    return f"solution/{task}/{stack}"


def plugin_layer(plugin: str) -> str:
    """Name of the layer with a plugin's folder, for runs in which it is on."""
    return f"plugin/{plugin}"


class LayerFile(Model):
    """One file of a layer. Size in bytes."""

    path: Path
    mode: int
    size: int
    sha256: Sha256 | None = None  # None for a symbolic link
    link: str | None = None


class Layer(Model):
    """One layer, named in the store by the sha256 of its uncompressed tar.

    The compressed bytes depend on the compressor's version; the tar does not, so no upgrade
    of a library can move a digest.
    """

    name: str
    sha256: Sha256
    size: int
    files: tuple[LayerFile, ...]


class BundleManifest(Model):
    """What a bundle consists of (`agentbench.bundle/v1`)."""

    schema_: Literal["agentbench.bundle/v1"] = Field(BUNDLE_SCHEMA, alias="schema")
    layers: tuple[Layer, ...]

    def encode(self) -> bytes:
        """The manifest's bytes: canonical JSON."""
        return canonical(self.model_dump(mode="json", by_alias=True, exclude_none=True))

    @property
    def sha256(self) -> str:
        """The bundle's name."""
        return sha256_of(self.encode())

    def layer(self, name: str) -> Layer | None:
        """The layer of that name."""
        return next((layer for layer in self.layers if layer.name == name), None)

    @classmethod
    def decode(cls, content: bytes) -> "BundleManifest":
        """Read a manifest.

        Raises:
            ValueError: the bytes are no manifest of this schema.
        """
        return cls.model_validate(json.loads(content))
