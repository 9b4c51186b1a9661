"""The proxies: before the API server, and before the store."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, HTTPClientError
from tests.cluster.faults.apiproxy import UNASKED_AFTER, ApiProxy
from tests.cluster.faults.s3proxy import S3Proxy
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.s3 import s3_client
from tests.cluster.lab.shell import wait

LAG = 3.0


class Watch:
    """A watch of a namespace's config maps through the proxy, over HTTP/1.1 as Python speaks it."""

    def __init__(self, connection: http.client.HTTPSConnection, namespace: str) -> None:
        self.seen: dict[str, float] = {}
        self.broken = threading.Event()
        path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1"
        connection.request("GET", path)
        self._answer = connection.getresponse()
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        try:
            while line := self._answer.readline():
                name = json.loads(line)["object"]["metadata"]["name"]
                self.seen[name] = time.monotonic()
        except (OSError, ValueError, http.client.HTTPException):
            pass
        self.broken.set()


def _through(cluster: Cluster, proxy: ApiProxy) -> http.client.HTTPSConnection:
    context = ssl.create_default_context(cafile=str(cluster.slot.pki / "ca.crt"))
    pki = cluster.slot.pki
    context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    return http.client.HTTPSConnection(proxy.address, 6443, context=context, timeout=60)


@contextmanager
def _watch(cluster: Cluster, proxy: ApiProxy, namespace: str) -> Iterator[Watch]:
    with closing(_through(cluster, proxy)) as connection:
        watch = Watch(connection, namespace)
        wait("the watch to begin", lambda: "kube-root-ca.crt" in watch.seen, 30)
        # From here on what the server sends was not asked for just now.
        time.sleep(UNASKED_AFTER + 0.2)
        yield watch
        proxy.resume()
        proxy.cut()
        watch.thread.join()


def _note(cluster: Cluster, namespace: str, name: str) -> float:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    cluster.api.create(f"/api/v1/namespaces/{namespace}/configmaps", body)
    return time.monotonic()


def test_the_proxy_serves_the_api_under_its_own_address(
    real_cluster: Cluster, faulty_api: ApiProxy
) -> None:
    words = (f"--kubeconfig={faulty_api.kubeconfig}", "get", "--raw", "/readyz")
    assert faulty_api.address in faulty_api.kubeconfig.read_text()
    assert real_cluster.kubectl(*words) == "ok"


def test_a_lagging_watch_is_late_while_requests_are_not(
    real_cluster: Cluster, faulty_api: ApiProxy, namespace: str
) -> None:
    with _watch(real_cluster, faulty_api, namespace) as watch:
        faulty_api.lag_watches(LAG)
        made = _note(real_cluster, namespace, "late")
        with closing(_through(real_cluster, faulty_api)) as asked:
            asked.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/late")
            assert asked.getresponse().status == 200
        assert "late" not in watch.seen
        wait("the late event", lambda: "late" in watch.seen, 30)
        assert watch.seen["late"] - made >= LAG - 0.1


def test_dropped_watches_end_and_the_api_stays(
    real_cluster: Cluster, faulty_api: ApiProxy, namespace: str
) -> None:
    with _watch(real_cluster, faulty_api, namespace) as watch:
        assert faulty_api.drop_watches() >= 1
        assert watch.broken.wait(10)
        test_the_proxy_serves_the_api_under_its_own_address(real_cluster, faulty_api)


def test_a_paused_api_holds_what_comes_and_delivers_it_later(
    real_cluster: Cluster, faulty_api: ApiProxy, namespace: str
) -> None:
    with _watch(real_cluster, faulty_api, namespace) as watch:
        faulty_api.pause()
        _note(real_cluster, namespace, "held")
        _note(real_cluster, namespace, "held-too")
        # Direct, past the proxy, the API answers: the pause is the proxy's.
        listed = real_cluster.api.get(f"/api/v1/namespaces/{namespace}/configmaps")
        assert len(listed["items"]) == 3
        assert not watch.broken.is_set()
        assert "held" not in watch.seen
        faulty_api.resume()
        wait("the held events", lambda: {"held", "held-too"} <= set(watch.seen), 30)


def test_a_cut_api_breaks_and_refuses_connections_until_it_is_resumed(
    real_cluster: Cluster, faulty_api: ApiProxy, namespace: str
) -> None:
    with _watch(real_cluster, faulty_api, namespace) as watch:
        faulty_api.cut()
        assert watch.broken.wait(10)
        with closing(_through(real_cluster, faulty_api)) as refused, pytest.raises(OSError):  # noqa: PT011
            refused.request("GET", "/readyz")
        faulty_api.resume()
        test_the_proxy_serves_the_api_under_its_own_address(real_cluster, faulty_api)


def test_an_unavailable_store_says_slow_down_as_often_as_told(
    faulty_s3: S3Proxy, bucket: str
) -> None:
    client = s3_client(faulty_s3.endpoint)
    faulty_s3.inject("unavailable", method="PUT", key="/rows/", times=2)
    for _ in range(2):
        with pytest.raises(ClientError, match="SlowDown"):
            client.put_object(Bucket=bucket, Key="c/rows/r/1.json", Body=b"{}")
    client.put_object(Bucket=bucket, Key="c/rows/r/1.json", Body=b"{}")
    assert client.get_object(Bucket=bucket, Key="c/rows/r/1.json")["Body"].read() == b"{}"
    kinds = [kind for method, _, kind in faulty_s3.requests() if method == "PUT"]
    assert kinds == ["unavailable", "unavailable", "none"]


def test_a_lost_answer_comes_after_the_write_happened(
    real_cluster: Cluster, faulty_s3: S3Proxy, bucket: str
) -> None:
    client = s3_client(faulty_s3.endpoint)
    faulty_s3.inject("lost-answer", method="PUT", times=1)
    with pytest.raises((ConnectionClosedError, HTTPClientError)):
        client.put_object(Bucket=bucket, Key="row", Body=b"written", IfNoneMatch="*")
    assert real_cluster.s3().get_object(Bucket=bucket, Key="row")["Body"].read() == b"written"
    with pytest.raises(ClientError, match="PreconditionFailed"):
        client.put_object(Bucket=bucket, Key="row", Body=b"again", IfNoneMatch="*")


@pytest.mark.parametrize("presigned", [False, True])
def test_an_ignored_condition_overwrites_what_it_should_have_kept(
    real_cluster: Cluster, faulty_s3: S3Proxy, bucket: str, presigned: bool
) -> None:
    client = s3_client(faulty_s3.endpoint)
    put = {"Bucket": bucket, "Key": "row", "IfNoneMatch": "*"}
    client.put_object(Bucket=bucket, Key="row", Body=b"first")
    with pytest.raises(ClientError, match="PreconditionFailed"):
        client.put_object(Bucket=bucket, Key="row", Body=b"second", IfNoneMatch="*")
    faulty_s3.inject("ignore-condition", method="PUT")
    if presigned:
        url = client.generate_presigned_url("put_object", Params=put)
        with closing(http.client.HTTPConnection(faulty_s3.ip, 9000, timeout=20)) as raw:
            raw.request("PUT", url.partition(":9000")[2], b"second", {"If-None-Match": "*"})
            assert raw.getresponse().status == 200
    else:
        client.put_object(Bucket=bucket, Key="row", Body=b"second", IfNoneMatch="*")
    assert real_cluster.s3().get_object(Bucket=bucket, Key="row")["Body"].read() == b"second"


def test_a_slow_store_answers_late(faulty_s3: S3Proxy, bucket: str) -> None:
    client = s3_client(faulty_s3.endpoint)
    faulty_s3.inject("slow", seconds=1.5, times=1)
    began = time.monotonic()
    client.put_object(Bucket=bucket, Key="row", Body=b"{}")
    assert time.monotonic() - began >= 1.5
