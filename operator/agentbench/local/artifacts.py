"""The artifacts of an attempt: redacted, looked through again, named by their sha256."""

import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import zstandard

from agentbench.core.keys import artifact_key
from agentbench.core.summary import StoredFile, Summary
from agentbench.local.job import AttemptFolder
from agentbench.pod.diff import Diff
from agentbench.pod.warden.publish import publish, stored_file
from agentbench.pod.warden.redact import Redactor
from agentbench_analysis.rows.model import Artifact

SNAPSHOT = "final.tar.zst"
DIFF = "final.diff"
TRUNCATED = ".truncated"


@dataclass(slots=True)
class Artifacts:
    """Fills an attempt's record folder with what may be given out."""

    folder: AttemptFolder
    secrets: Mapping[str, str]
    _files: dict[str, StoredFile] = field(default_factory=dict)

    def keep_diff(self, diff: Diff) -> None:
        """Keep the final diff; a mark beside it tells a later keeper that its bound cut it."""
        self._publish(DIFF, diff.text)
        if diff.truncated:
            (self.folder.record / f".{DIFF}{TRUNCATED}").touch()

    def keep_records(self, records: Mapping[str, bytes]) -> None:
        """Keep what the checks said."""
        for name, content in records.items():
            self._publish(name, content)

    def keep_snapshot(self) -> None:
        """Keep the final state, unless a known secret is in it.

        An archive cannot be redacted without becoming another final state, and patterns would
        take every example key in an app for a leak: so it is looked through for the run's own
        secrets alone, and withheld if one is there.
        """
        source = self.folder.snapshot
        if not source.exists():
            return
        target = self._record_folder() / SNAPSHOT
        redactor = Redactor(self.secrets, rules=())
        with source.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as tar:
            left = redactor.scan(tar) if self.secrets else ()
        if left:
            self._files[SNAPSHOT] = StoredFile(
                name=SNAPSHOT,
                sha256=hashlib.sha256(b"").hexdigest(),
                size=0,
                withheld=f"it holds {', '.join(left)}",
            )
            return
        target.unlink(missing_ok=True)
        target.hardlink_to(source)
        self._files[SNAPSHOT] = stored_file(target)

    def keep_warden(self, summary: Summary | None) -> None:
        """Keep the warden's own record, which it has redacted."""
        for name, stored in (summary.files if summary else {}).items():
            source = self.folder.warden / stored.name
            if stored.withheld is None and source.is_file():
                shutil.copyfile(source, self._record_folder() / stored.name)
            self._files[name] = stored

    def artifacts(self, campaign: str, run: str, attempt: int) -> dict[str, Artifact]:
        """What the row says of them."""
        diff = self.folder.record / DIFF
        if DIFF not in self._files and diff.exists():
            cut = (self.folder.record / f".{DIFF}{TRUNCATED}").exists()
            self._files[DIFF] = stored_file(diff, truncated=cut)
        return {
            name: Artifact(
                key=artifact_key(campaign, run, attempt, stored.name),
                sha256=f"sha256:{stored.sha256.removeprefix('sha256:')}",
                size=stored.size,
                truncated=stored.truncated,
                withheld=stored.withheld,
            )
            for name, stored in sorted(self._files.items())
        }

    def _publish(self, name: str, content: bytes) -> None:
        folder = self._record_folder()
        with tempfile.TemporaryDirectory(dir=self.folder.root, prefix=".private-") as private:
            source = Path(private) / name
            source.write_bytes(content)
            self._files[name] = publish(source, folder / name, Redactor(self.secrets)).file

    def _record_folder(self) -> Path:
        self.folder.record.mkdir(exist_ok=True, mode=0o700)
        return self.folder.record
