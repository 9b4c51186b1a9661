"""The gateway lists the very host to which a pod's presigned addresses lead."""

from urllib.parse import urlsplit

import pytest
from tests.fakes.build import a_campaign

from agentbench.api.place import Store
from agentbench.app.campaign import Campaign
from agentbench.app.passes import store_host
from agentbench.core.credentials import allows
from agentbench.store.s3 import connect

PORTS = {"https": 443, "http": 80}


@pytest.mark.parametrize("region", [None, "us-east-1", "eu-west-1"])
@pytest.mark.parametrize("bucket", ["bench", "my.bench"])
@pytest.mark.parametrize(
    "endpoint", [None, "https://s3.test", "http://s3.test", "http://s3.test:9000/"]
)
def test_the_stores_host_is_that_of_its_addresses(
    region: str | None, bucket: str, endpoint: str | None
) -> None:
    spec = a_campaign().model_copy(
        update={"store": Store(url=f"s3://{bucket}/rows", region=region, endpoint=endpoint)}
    )
    campaign = Campaign(
        name="demo", namespace="n", uid="u", generation=1, spec=spec, digest="", runs=()
    )
    store = connect(
        bucket=bucket, endpoint=endpoint, region=region, access_key="key", secret_key="word"
    )
    for address in (store.presigned_get("key", 60), store.presigned_create("key", 60)[0]):
        where = urlsplit(address)
        port = where.port or PORTS[where.scheme]
        assert allows([store_host(campaign)], str(where.hostname), port), (address, campaign)
