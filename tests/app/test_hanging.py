"""A service that ignores its signal keeps its pod, and neither a slot nor the row."""

import json

from tests.fakes.operator_world import World


def endings(world: World) -> dict[str, tuple[str, str | None]]:
    rows = {name: json.loads(row) for name, row in world.rows().items()}
    return {name: (row["outcome"], row["cause"]) for name, row in rows.items()}


def test_a_pod_that_only_hangs_goes_by_force_once_everything_is_stored() -> None:
    world = World(parallelism=1, repeats=2)
    world.kubelets.stubborn = True
    try:
        world.complete()
        assert endings(world) == {
            "T1-S1-A1-r1/1.json": ("pass", None),
            "T1-S1-A1-r2/1.json": ("pass", None),
        }
        assert len(world.objects.made) == 2
    finally:
        world.close()


def test_a_pod_that_is_still_packing_is_left_alone() -> None:
    world = World(parallelism=1, repeats=1)
    world.kubelets.stubborn = True
    try:
        while not _agent_gone(world):
            world.tick()
            for pod in world.objects.pods("run"):
                if not _agent_gone(world):
                    world.kubelets.step(pod)
        for _ in range(100):
            world.tick()
        (pod,) = world.objects.pods("run")
        assert "deletionTimestamp" not in pod["metadata"]
        said = world.campaign["status"]["conditions"]
        assert any("packed and stored" in each["message"] for each in said)
        world.kubelets.step(pod)  # the summary is stored
        world.complete()
        assert endings(world) == {"T1-S1-A1-r1/1.json": ("pass", None)}
    finally:
        world.close()


def _agent_gone(world: World) -> bool:
    return any(
        "terminated" in each["state"]
        for pod in world.objects.pods("run")
        for each in pod["status"].get("containerStatuses", ())
    )
