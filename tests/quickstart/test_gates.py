"""The quickstart's checks, tried by the engine on final states whose verdict is known."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.fakes.local_pack import a_machine

from agentbench.api.campaign import CampaignSpec
from agentbench.core.bundle import CHECKS_LAYER
from agentbench.local.examination import Bench, examine
from agentbench.local.gates import NOP, REFERENCE, Gate, GateKeeper, gates
from agentbench.local.layers import Layers
from agentbench.local.services.templates import Templates
from agentbench.pack.load import load_pack
from agentbench.pack.prepare import prepare
from agentbench.pack.records import GateResult
from agentbench.pod.snapshot import capture, copy_into
from agentbench.store.folder import FolderStore
from agentbench_analysis.rows.words import CheckVerdict

PACK = Path(__file__).parents[2] / "examples" / "quickstart"
CELLS = [("T01", "python"), ("T01", "node"), ("T02", "python"), ("T02", "node")]
AT_ONCE = 2


@pytest.fixture(scope="module")
def spec() -> CampaignSpec:
    return load_pack(PACK).spec


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("bundle")
    prepared = prepare(load_pack(PACK), folder / "store")
    unpacking = Layers(FolderStore(folder / "store"), prepared.manifest, folder / "layers")
    found = {layer.name: unpacking.unpack(layer.name) for layer in prepared.manifest.layers}
    return {name: path for name, path in found.items() if path is not None}


@pytest.fixture
def keeper(spec: CampaignSpec, layers: Mapping[str, Path], tmp_path: Path) -> GateKeeper:
    machine = a_machine()
    return GateKeeper(
        spec=spec,
        machine=machine,
        layers=layers,
        templates=Templates(tmp_path / "templates", machine),
        folder=tmp_path / "work",
    )


def of_cell(spec: CampaignSpec, task: str, stack: str) -> list[Gate]:
    return [gate for gate in gates(spec) if (gate.task.id, gate.stack.id) == (task, stack)]


async def wrong(keeper: GateKeeper, chosen: list[Gate]) -> list[tuple[str, str, str]]:
    """Subject, what was expected and what was found, of every gate that does not hold."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, gate: Gate) -> GateResult:
        async with slots:
            return await keeper.try_one(gate, keeper.folder / str(number))

    results = await asyncio.gather(*(one(number, gate) for number, gate in enumerate(chosen)))
    return [(each.subject, each.expected, each.found) for each in results if not each.ok]


@pytest.mark.parametrize(("task", "stack"), CELLS)
async def test_solutions_pass_and_start_states_fail(
    spec: CampaignSpec, keeper: GateKeeper, task: str, stack: str
) -> None:
    chosen = [gate for gate in of_cell(spec, task, stack) if gate.mutant is None]
    assert [gate.subject for gate in chosen] == [REFERENCE, NOP]
    assert await wrong(keeper, chosen) == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("task", "stack"), CELLS)
async def test_each_fault_fails_the_assertion_that_it_names(
    spec: CampaignSpec, keeper: GateKeeper, task: str, stack: str
) -> None:
    cell = of_cell(spec, task, stack)
    chosen = [gate for gate in cell if gate.mutant is not None and gate.mutant.fails is not None]
    assert len(chosen) >= 14
    assert await wrong(keeper, chosen) == []


@pytest.mark.parametrize(("task", "stack"), CELLS)
async def test_what_is_right_in_another_way_passes(
    spec: CampaignSpec, keeper: GateKeeper, task: str, stack: str
) -> None:
    cell = of_cell(spec, task, stack)
    chosen = [gate for gate in cell if gate.mutant is not None and gate.mutant.fails is None]
    assert len(chosen) == 4
    assert await wrong(keeper, chosen) == []


@pytest.mark.parametrize(("task", "stack"), CELLS)
async def test_the_security_check_finds_nothing_where_nothing_is_built(
    spec: CampaignSpec,
    layers: Mapping[str, Path],
    tmp_path: Path,
    task: str,
    stack: str,
) -> None:
    workspace, archive = tmp_path / "workspace", tmp_path / "final.tar.zst"
    workspace.mkdir()
    copy_into(layers[f"seed/{task}/{stack}"], workspace, None)
    capture(workspace, archive, 1 << 20)
    machine = a_machine()
    bench = Bench(
        machine=machine,
        templates=Templates(tmp_path / "templates", machine),
        archive=archive,
        checks=layers[CHECKS_LAYER],
        scripts=None,
        root=tmp_path / "bench",
    )
    chosen = next(each for each in spec.stacks if each.id == stack)
    examined = await examine(bench, chosen, "checks/security.py", 1, 60)
    assert examined.verdict is CheckVerdict.PASS
    assert {line.assertion.id for line in examined.lines} == {
        "cross-tenant-users",
        "missing-auth-users",
        "sql-injection-login",
        "secret-logged",
        "secret-in-answer",
    }
