"""Whole campaigns on one machine: scripted agents, real apps, real checks, real rows."""

import tarfile
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import pytest
import zstandard
from tests.fakes.engines import Steps, an_engine, row, rows
from tests.fakes.local_pack import TinyPack

from agentbench.core.decide import CampaignPhase
from agentbench.core.digest import sha256_of
from agentbench.core.keys import row_key
from agentbench.core.record import decode_row
from agentbench.local.engine import Engine
from agentbench.local.events import CampaignEnded, CampaignStarted, Event, RunEnded, RunStarted
from agentbench.local.isolation import Isolation
from agentbench.local.preflight import state_of
from agentbench.store.folder import FolderStore
from agentbench_analysis.rows.words import Cause, Outcome


async def test_oracle_passes_and_nop_does_not(pack: TinyPack, store: FolderStore) -> None:
    pack.agents = {"A1": "oracle", "A2": "nop"}
    events: list[Event] = []
    oracle, nop = await rows(pack, store, on_event=events.append)
    assert (oracle.cell.agent, oracle.outcome, oracle.cause) == ("A1", Outcome.PASS, None)
    assert (nop.cell.agent, nop.outcome, nop.cause) == ("A2", Outcome.FAIL, Cause.TASK)
    assert nop.reasons == ("AppNotStarted",)
    assert isinstance(events[0], CampaignStarted)
    assert isinstance(events[-1], CampaignEnded)
    assert [event.row.run for event in events if isinstance(event, RunEnded)] == [
        run.id for run in events[0].runs
    ]
    assert events[-1].tally.done == 2


async def test_a_row_says_how_long_each_phase_took_and_where(
    pack: TinyPack, store: FolderStore
) -> None:
    pack.stack = {"setup": {"run": "sleep 0.3"}, "version": "1.2.3"}
    found = await row(pack, store, "oracle")
    for name in ("setup_seconds", "agent_seconds", "capture_seconds", "grading_seconds"):
        metric = found.metrics[name]
        assert metric.availability == "measured", name
        assert isinstance(metric.value, float), name
    assert float(found.metrics["setup_seconds"].value or 0) >= 0.3
    assert found.environment["isolation"] in [kind.value for kind in Isolation]
    assert found.versions["stack"] == "1.2.3"
    assert found.draft


async def test_every_artifact_of_a_row_is_stored_under_its_sha256(
    pack: TinyPack, store: FolderStore
) -> None:
    found = await row(pack, store, "oracle")
    assert {"final.tar.zst", "final.diff", "check-1.json", "security.json"} <= set(found.artifacts)
    assert {"trajectory.json", "usage.jsonl"} <= set(found.artifacts)
    for artifact in found.artifacts.values():
        content = store.get(artifact.key)
        assert (sha256_of(content), len(content)) == (artifact.sha256, artifact.size)
    diff = store.get(found.artifacts["final.diff"].key).decode()
    assert "diff --git a/app.py b/app.py\nnew file mode 100644" in diff
    assert not [path for path in state_of(store).rglob("*") if "attempts/" in str(path)]


async def test_the_agent_works_with_the_stacks_services_and_variables(
    pack: TinyPack, store: FolderStore
) -> None:
    pack.stack = {
        "env": {"COLOUR": "green"},
        "services": [{"name": "cache", "kind": "redis", "env": {"REDIS_PORT": "{port}"}}],
    }
    script = "test $COLOUR = green && test -d $DATA_DIR && (exec 3<>/dev/tcp/127.0.0.1/$REDIS_PORT)"
    found = await row(
        pack,
        store,
        [{"shell": f"bash -c '{script}' && echo yes > $HOME/x"}, {"shell": "cp $HOME/x works"}],
    )
    assert "works" in store.get(found.artifacts["final.diff"].key).decode()


LEAVES = """
(setsid sh -c 'while :; do echo late >> /workspace/late; sleep 0.01; done' >/dev/null 2>&1 &)
nohup sh -c 'sleep 1000' >/dev/null 2>&1 &
mkfifo pipe; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('socket')"
ln -s /etc/passwd outside; echo secret > closed; chmod 000 closed; mkdir shut; echo in > shut/f
chmod 000 shut
"""


async def test_nothing_of_the_agent_is_alive_when_its_final_state_is_captured(
    pack: TinyPack, store: FolderStore
) -> None:
    found = await row(pack, store, [{"shell": LEAVES}])
    packed = store.get(found.artifacts["final.tar.zst"].key)
    plain = zstandard.ZstdDecompressor().stream_reader(BytesIO(packed)).read()
    with tarfile.open(fileobj=BytesIO(plain)) as tar:
        members = {member.name: member for member in tar}
        assert tar.extractfile("closed").read() == b"secret\n"  # type: ignore[union-attr]
    assert {"README", "late", "closed", "shut", "shut/f", "outside"} == set(members)
    assert members["outside"].linkname == "/etc/passwd"
    assert members["closed"].mode == 0
    assert found.notes == ("not in the final state: pipe pipe, socket socket",)
    assert "root:" not in store.get(found.artifacts["final.diff"].key).decode()
    assert _alive("sleep 1000") == []


def _alive(command: str) -> list[str]:
    wanted = command.replace(" ", "\0").encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if wanted in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


async def test_the_agent_sees_no_check_no_solution_and_no_store(
    pack: TinyPack, store: FolderStore
) -> None:
    look = (
        f"cat {store.root}/tiny/FREEZE.json {pack.folder}/solution/app.py; ls {state_of(store)};"
        "ls -R /run /tmp /home; env;"
        "cat /proc/*/environ /proc/*/cmdline | tr '\\0' ' ';"
        "find / -name 't1.py' -o -name 'security.py' -path '*checks*' 2>/dev/null"
    )
    found = await row(pack, store, [{"shell": f"({look}) > seen 2>/dev/null"}])
    diff = store.get(found.artifacts["final.diff"].key).decode()
    assert "+++ b/seen" in diff
    for secret in ("TINY-1", "Counts visits", "layers", "HARNESS"):
        assert secret not in diff


async def test_a_failed_set_up_is_infra_and_rerun_once(pack: TinyPack, store: FolderStore) -> None:
    pack.stack = {"setup": {"run": "echo no luck; exit 9"}}
    pack.agents = {"A1": "oracle"}
    first, second = await rows(pack, store)
    assert [(one.attempt, one.cause, one.reasons) for one in (first, second)] == [
        (1, Cause.INFRA, ("SetupFailed",)),
        (2, Cause.INFRA, ("SetupFailed",)),
    ]
    assert first.evidence == ("SetupFailed: setup exited with 9: no luck",)
    assert first.metrics["cost_usd"].availability == "unavailable"


async def test_a_final_state_beyond_its_bound_is_the_agents_fault(
    pack: TinyPack, store: FolderStore
) -> None:
    pack.spec = {"checks": {"repeats": 1, "timeout": "30s", "snapshotLimitMiB": 1}}
    found = await row(pack, store, [{"shell": "truncate -s 1T big"}])
    assert (found.outcome, found.cause, found.reasons) == (
        Outcome.FAIL,
        Cause.TASK,
        ("AgentDisk",),
    )
    assert "final.tar.zst" not in found.artifacts


async def test_wall_time_ends_a_run(pack: TinyPack, store: FolderStore) -> None:
    pack.spec = {"caps": {"wall": "1s", "costUSD": "1", "toolCalls": 20, "interventions": 1}}
    found = await row(pack, store, [{"shell": "sleep 600"}])
    assert (found.cause, found.caps_hit) == (Cause.CAP, ("wall",))
    assert found.checks, "it is graded all the same, for information"


async def test_model_calls_go_through_the_warden_to_a_service_of_the_stack(
    pack: TinyPack, store: FolderStore
) -> None:
    pack.stack = {
        "services": [
            {"name": "model", "kind": "mock-model", "script": {"path": "scripts/model.yaml"}}
        ]
    }
    pack.provider = {"api": "anthropic", "baseUrl": "http://model"}
    pack.spec = {"caps": {"wall": "1m", "costUSD": "0.5", "toolCalls": 20, "interventions": 1}}
    found = await row(pack, store, [{"model": {"prompt": "go on"}, "times": 5}])
    # A call is 0.20 USD: the third crosses the cap and is finished, the fourth is refused.
    assert found.metrics["cost_usd"].value == "0.6"
    assert found.metrics["model_calls"].value == 3
    assert (found.cause, found.caps_hit) == (Cause.CAP, ("cost",))


async def test_the_budget_stops_admission(pack: TinyPack, store: FolderStore) -> None:
    pack.spec = {"budget": {"totalUSD": "1.50"}, "repeats": 3}
    pack.stack = {
        "services": [
            {"name": "model", "kind": "mock-model", "script": {"path": "scripts/model.yaml"}}
        ]
    }
    pack.provider = {"api": "anthropic", "baseUrl": "http://model"}
    pack.agents = {"A1": [{"model": {"prompt": "go on"}, "times": 5}]}
    found = await rows(pack, store)
    assert len(found) == 1
    assert sum(Decimal(str(one.metrics["cost_usd"].value)) for one in found) <= Decimal("1.50")


async def test_live_runs_never_exceed_parallel(pack: TinyPack, store: FolderStore) -> None:
    pack.spec = {"repeats": 4}
    pack.agents = {"A1": [{"sleep": 0.5}]}
    live, most = 0, 0

    def count(event: Event) -> None:
        nonlocal live, most
        live += isinstance(event, RunStarted) - isinstance(event, RunEnded)
        most = max(most, live)

    assert len(await rows(pack, store, on_event=count, parallel=2)) == 4
    assert most == 2


async def test_a_finished_campaign_is_not_run_again(pack: TinyPack, store: FolderStore) -> None:
    await row(pack, store, "oracle")
    before = store.get(row_key("tiny", "T1-S1-A1-r1", 1))
    events: list[Event] = []
    assert await an_engine(pack, store, events.append).run() is CampaignPhase.COMPLETE
    assert [type(event) for event in events] == [CampaignStarted, CampaignEnded]
    assert store.get(row_key("tiny", "T1-S1-A1-r1", 1)) == before


async def test_a_drain_lets_live_runs_finish_and_starts_no_other(
    pack: TinyPack, store: FolderStore
) -> None:
    pack.spec = {"repeats": 2}
    pack.agents = {"A1": "nop"}
    engine: Engine

    def on_event(event: Event) -> None:
        if isinstance(event, RunStarted):
            engine.drain()

    engine = an_engine(pack, store, on_event)
    assert await engine.run() is CampaignPhase.SUSPENDED
    assert len(list(store.list("tiny/rows/"))) == 1
    assert await an_engine(pack, store).run() is CampaignPhase.COMPLETE
    assert len(list(store.list("tiny/rows/"))) == 2


async def test_a_cancel_ends_live_runs_with_an_aborted_row(
    pack: TinyPack, store: FolderStore
) -> None:
    pack.agents = {"A1": [{"shell": "sleep 777"}]}
    engine: Engine

    def on_event(event: Event) -> None:
        if getattr(event, "step", "") == "agent":
            engine.cancel()

    engine = an_engine(pack, store, on_event)
    assert await engine.run() is CampaignPhase.CANCELLED
    found = decode_row(store.get(row_key("tiny", "T1-S1-A1-r1", 1)), "row")
    assert (found.outcome, found.cause) == (Outcome.ABORTED, None)
    assert _alive("sleep 777") == []


async def test_a_key_reaches_no_file_and_no_process_of_the_agent(
    pack: TinyPack, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-test-0f9e8d7c6b5a4f3e2d1c"
    monkeypatch.setenv("TINY_KEY", key)
    pack.stack = {
        "services": [
            {"name": "model", "kind": "mock-model", "script": {"path": "scripts/model.yaml"}}
        ]
    }
    pack.provider = {"api": "anthropic", "baseUrl": "http://model", "keyEnv": "TINY_KEY"}
    steps: Steps = [
        {"shell": "env > seen; cat /proc/*/environ >> seen 2>/dev/null"},
        {"model": {"prompt": "hello"}},
    ]
    await row(pack, store, steps, keep_work=True)
    holders = [
        path
        for path in store.root.rglob("*")
        if path.is_file() and key.encode() in path.read_bytes()
    ]
    assert holders == []


@pytest.mark.parametrize("isolation", [Isolation.USER_NAMESPACE, Isolation.PROCESS_GROUP])
async def test_a_campaign_runs_in_every_other_isolation(
    pack: TinyPack, store: FolderStore, tmp_path: Path, isolation: Isolation
) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o711)
    found = await row(pack, store, "oracle", isolation=isolation)
    assert found.outcome is Outcome.PASS, found.evidence
    assert found.environment["isolation"] == isolation.value
