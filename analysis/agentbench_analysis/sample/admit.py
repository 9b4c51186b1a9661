"""Which rows belong to the sample, and which are kept out and counted."""

from collections.abc import Iterable, Iterator, Mapping

from agentbench_analysis.errors import AnalysisError, NoRowsError
from agentbench_analysis.parsing import Read
from agentbench_analysis.results.model import KeptOut
from agentbench_analysis.rows.model import Cell, Row
from agentbench_analysis.rows.read import digest_of, parse_row
from agentbench_analysis.rows.words import Phase
from agentbench_analysis.spec import AnalysisSpec


class Gate:
    """Lets rows of the sample through, one by one, and counts the rest out loud.

    `expected` is the sha256 that statuses name, by run and attempt. A draft without a digest
    takes the digest of its first row; a second one is an error, for then nothing says which
    rows belong together.
    """

    def __init__(
        self,
        spec: AnalysisSpec,
        expected: Mapping[tuple[str, int], str],
        read: Read | None = None,
    ):
        self._json = read
        self.spec = spec
        self.expected = expected
        self.kept_out: dict[str, KeptOut] = {}
        self._seen: dict[tuple[str, int], str] = {}
        self._places: dict[tuple[Cell, int], str] = {}
        self._digest = spec.digest
        self._digest_file = ""
        self._read = 0
        self._known = {
            "task": frozenset(factor.id for factor in spec.tasks),
            "stack": frozenset(factor.id for factor in spec.stacks),
            "agent": frozenset(factor.id for factor in spec.agents),
        }
        self._plugin_sets = frozenset(spec.plugin_sets)

    def sample(self, documents: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, str, Row]]:
        """Yield file, sha256 and row of every row of the sample.

        Raises:
            AnalysisError: a row is malformed, appears twice, or fits no cell of the design.
            NoRowsError: there was no row at all, or none of this protocol's digest.
        """
        passed = 0
        for file, data in documents:
            self._read += 1
            row = parse_row(file, data, slim=True, read=self._json)
            reason = self._reason_to_keep_out(file, row)
            if reason is not None:
                self._count(reason, file)
                continue
            sha = digest_of(data)
            self._check(file, row, sha)
            passed += 1
            yield file, sha, row
        if not passed:
            raise self._nothing()

    def _reason_to_keep_out(self, file: str, row: Row) -> str | None:
        if row.campaign != self.spec.campaign:
            return f"another campaign ({row.campaign})"
        if row.draft and not self.spec.draft:
            return "draft"
        if self._digest is None:
            self._digest, self._digest_file = row.digest, file
        if row.digest != self._digest:
            if self.spec.digest is None:
                raise AnalysisError(
                    f"differs from the digest of {self._digest_file}, {self._digest}",
                    file=file,
                    field="digest",
                    value=row.digest,
                    cure="Rows of two protocols are never mixed: analyse a frozen campaign, or "
                    "keep each draft's rows in a store of their own.",
                )
            return f"foreign digest ({row.digest})"
        return "calibration" if row.phase is Phase.CALIBRATION else None

    def _count(self, reason: str, file: str) -> None:
        old = self.kept_out.get(reason)
        self.kept_out[reason] = KeptOut(
            reason=reason,
            rows=old.rows + 1 if old else 1,
            example=min(old.example, file) if old else file,
        )

    def _check(self, file: str, row: Row, sha: str) -> None:
        key = (row.run, row.attempt)
        if key in self._seen:
            raise AnalysisError(
                f"is a second row of attempt {row.attempt} of {row.run}",
                file=file,
                field="attempt",
                value=str(row.attempt),
                cure=f"An attempt has one row; the other is {self._seen[key]}. Find out which "
                "one the store wrote first, and remove the copy.",
            )
        self._seen[key] = file
        expected = self.expected.get(key)
        if expected is not None and sha != "sha256:" + expected.removeprefix("sha256:"):
            raise AnalysisError(
                "is not the row that the run's status names",
                file=file,
                field="sha256",
                value=f"{sha}, the status says {expected}",
                cure="A row never changes: restore it from the store's versions, or find who "
                "wrote it.",
            )
        self._place(file, row)

    def _place(self, file: str, row: Row) -> None:
        """Refuse a row outside the design, and two runs in one place of it."""
        spec, cell = self.spec, row.cell
        for name, value in (("task", cell.task), ("stack", cell.stack), ("agent", cell.agent)):
            if value not in self._known[name]:
                raise AnalysisError(
                    f"names no {name} of {spec.protocol}",
                    file=file,
                    field=f"cell.{name}",
                    value=value,
                    cure=f"Known: {', '.join(sorted(self._known[name]))}.",
                )
        if cell.plugins not in self._plugin_sets:
            raise AnalysisError(
                "is no combination of the protocol's plugins, in their order",
                file=file,
                field="cell.plugins",
                value=", ".join(cell.plugins) or "none",
                cure=f"Known: {', '.join(plugin.id for plugin in spec.plugins) or 'none'}.",
            )
        if row.repeat > spec.repeats:
            raise AnalysisError(
                f"is above the {spec.repeats} repeats of the protocol",
                file=file,
                field="repeat",
                value=str(row.repeat),
                cure="Remove rows that the frozen design does not have.",
            )
        place = (cell, row.repeat)
        owner = self._places.setdefault(place, row.run)
        if owner != row.run:
            raise AnalysisError(
                f"takes the cell and repeat of {owner}",
                file=file,
                field="run",
                value=row.run,
                cure="Every run has a place of its own: correct the cell or the repeat.",
            )

    def _nothing(self) -> NoRowsError:
        if not self._read:
            return NoRowsError(
                "no rows",
                file=self.spec.campaign,
                cure="Run the campaign first, or point at the store that holds its rows.",
            )
        kept = ", ".join(f"{each.rows} {each.reason}" for each in self.kept_out.values())
        return NoRowsError(
            "no rows of this campaign's sample",
            file=self.spec.campaign,
            value=f"kept out: {kept}",
            cure="Point at the rows of the frozen protocol with digest "
            f"{self.spec.digest or 'as in the rows'}.",
        )
