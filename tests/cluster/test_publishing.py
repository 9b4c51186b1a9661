"""Results are published into a real object store, whole or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cluster.faults.s3proxy import S3Proxy
from tests.cluster.lab import stores
from tests.cluster.lab.handle import Cluster
from tests.fakes import publish_program
from tests.fakes.published import NAME, StoredCampaign

from agentbench.app import publish
from agentbench.core.keys import latest_key
from agentbench.core.publication import Latest, decode_latest
from agentbench.store.s3 import S3Store, connect

ROOT = Path(__file__).parents[2]


@pytest.fixture
def endpoint(real_cluster: Cluster) -> str:
    return stores.versitygw(real_cluster.slot).endpoint


@pytest.fixture
def campaign(endpoint: str, bucket: str, tmp_path: Path) -> StoredCampaign:
    store = connect(
        bucket=bucket,
        endpoint=endpoint,
        access_key=stores.ACCESS_KEY,
        secret_key=stores.SECRET_KEY,
    )
    made = StoredCampaign.make(store, tmp_path)
    made.register()
    made.rows()
    return made


def latest(campaign: StoredCampaign) -> Latest | None:
    entry = campaign.store.read(latest_key(NAME))
    return decode_latest(entry.content, latest_key(NAME)) if entry else None


def told(endpoint: str, bucket: str) -> dict[str, str]:
    """What the CronJob tells its pod."""
    return {
        "AGENTBENCH_CAMPAIGN": NAME,
        "AGENTBENCH_STORE_URL": f"s3://{bucket}",
        "AGENTBENCH_STORE_ENDPOINT": endpoint,
        "AWS_ACCESS_KEY_ID": stores.ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": stores.SECRET_KEY,
    }


def killed_at(endpoint: str, bucket: str, write: int) -> subprocess.CompletedProcess[str]:
    """A publisher that dies before a write."""
    return subprocess.run(
        [sys.executable, "-m", publish_program.__name__, endpoint, bucket, str(write)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/operator:{ROOT}/analysis"},
        cwd=ROOT, text=True, capture_output=True, check=False,
    )  # fmt: skip


def test_a_publisher_killed_between_two_writes_is_never_half_seen_and_the_next_one_ends_it(
    campaign: StoredCampaign, endpoint: str, bucket: str
) -> None:
    done = killed_at(endpoint, bucket, 30)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert latest(campaign) is None
    assert 20 < len(campaign.files(1)) <= 40
    assert "index.html" not in campaign.files(1)
    whole = int(killed_at(endpoint, bucket, -1).stdout)
    assert len(campaign.files(1)) == whole - 1  # the pointer is the last write
    found = latest(campaign)
    assert found is not None
    assert found.number == 1
    assert campaign.files(2) == set()
    campaign.adjudicate("T1-S2-A1-r3")
    assert killed_at(endpoint, bucket, whole - 1).returncode == -signal.SIGKILL  # before the swap
    assert latest(campaign) == found
    assert int(killed_at(endpoint, bucket, -1).stdout) == whole
    second = latest(campaign)
    assert second is not None
    assert (second.number, second.adjudications) == (2, 1)


def test_two_programs_at_once_publish_one_number(
    campaign: StoredCampaign, endpoint: str, bucket: str
) -> None:
    programs = [
        subprocess.Popen(
            [sys.executable, "-m", "agentbench.app.publish"],
            env={**os.environ, **told(endpoint, bucket)},
            cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [program.communicate(timeout=120) for program in programs]
    assert [program.returncode for program in programs] == [0, 0], said
    assert all("tiny/published/1, 6 of 6 runs" in out for out, _ in said), said
    assert sum(out.startswith("published") for out, _ in said) == 1, said
    assert campaign.files(2) == set()


def test_a_store_that_does_not_answer_changes_nothing_and_is_tried_later(
    campaign: StoredCampaign,
    faulty_s3: S3Proxy,
    bucket: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = told(faulty_s3.endpoint, bucket)
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, env[variable])
    faulty_s3.inject("unavailable", method="PUT", key="tables/")
    code, message = publish.run(env)
    assert code == publish.LATER, message
    assert latest(campaign) is None
    faulty_s3.heal()
    faulty_s3.inject("lost-answer", method="PUT", key="latest.json", times=1)
    code, message = publish.run(env)
    assert code == publish.DONE, message
    found = latest(campaign)
    assert found is not None
    assert found.number == 1


def test_a_browser_is_told_what_a_published_page_is(
    campaign: StoredCampaign, real_cluster: Cluster, bucket: str
) -> None:
    campaign.publisher().publish()
    assert isinstance(campaign.store, S3Store)
    head = real_cluster.s3().head_object(Bucket=bucket, Key=f"{NAME}/published/1/index.html")
    assert head["ContentType"] == "text/html; charset=utf-8"
