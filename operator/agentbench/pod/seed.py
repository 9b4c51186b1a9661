"""Restores layers into a pod's volumes, and lays the shim beside them.

    python -m agentbench.pod.seed TOLD

Nothing of a layer is written outside its target; a layer that does not hash to its name fails the
attempt before an agent or a check has started. Exit code 1, with the reason as the termination
message, if a layer cannot be had.
"""

import hashlib
import shutil
import sys
import urllib.error
from importlib.resources import as_file, files
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from agentbench.pod.snapshot import restore_tar
from agentbench.pod.told import Download, SeedTold
from agentbench.pod.transfer import Transfer, TransferError

MESSAGE = Path("/dev/termination-log")
BIN = Path("/agentbench/bin")
_CHUNK = 1 << 20


class SeedError(RuntimeError):
    """A layer is not what it should be."""


class _Hashed:
    """A stream that hashes what is read through it, and stops at a limit of bytes."""

    def __init__(self, stream: BinaryIO, limit: int | None = None) -> None:
        self._stream = stream
        self._limit = limit
        self._read = 0
        self.sha = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read on; SeedError beyond the limit."""
        content = self._stream.read(size)
        self._read += len(content)
        if self._limit is not None and self._read > self._limit:
            raise SeedError(f"it unpacks to more than {self._limit} bytes")
        self.sha.update(content)
        return content

    def finish(self) -> str:
        """Read the rest, and give the hash of everything."""
        while self.read(_CHUNK):
            pass
        return f"sha256:{self.sha.hexdigest()}"


def restore_layer(layer: Download, transfer: Transfer, limit: int) -> None:
    """Fetch one layer, and unpack it into its target.

    Raises:
        SeedError: it is too large, damaged, or hashes to something else.
        TransferError: it cannot be fetched.
    """
    target = Path(layer.target)
    target.mkdir(parents=True, exist_ok=True)
    try:
        with transfer.open(layer.url) as stream:
            packed = _Hashed(stream)
            plain = zstandard.ZstdDecompressor().stream_reader(cast("BinaryIO", packed))
            tar = _Hashed(cast("BinaryIO", plain), limit)
            restore_tar(cast("BinaryIO", tar), target, None)
            found = tar.finish()
            packed_found = packed.finish()
    except zstandard.ZstdError as error:
        raise SeedError(f"it is no whole zstd stream: {error}") from error
    except urllib.error.HTTPError as error:
        raise TransferError(f"the store refused it: {error.code} {error.reason}") from error
    for wanted, is_ in ((layer.sha256, found), (layer.packed_sha256, packed_found)):
        if wanted and wanted.removeprefix("sha256:") != is_.removeprefix("sha256:"):
            raise SeedError(f"it hashes to {is_}, not to {wanted}")


def main(argv: list[str]) -> int:
    """Restore everything; gives the exit code."""
    told = SeedTold.model_validate_json(Path(argv[0]).read_bytes())
    transfer = Transfer(told.gateway)
    for layer in told.layers:
        try:
            restore_layer(layer, transfer, told.limit)
        except (SeedError, TransferError, OSError) as error:
            text = f"layer for {layer.target}: {error}"
            print(text, file=sys.stderr)
            if MESSAGE.exists():
                MESSAGE.write_text(text[:2000])
            return 1
    if BIN.is_dir():
        with as_file(files("agentbench.pod").joinpath("shim.sh")) as shim:
            shutil.copyfile(shim, BIN / "shim.sh")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
