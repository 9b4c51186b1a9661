"""S3 clients for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from tests.cluster.lab import stores

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def s3_client(endpoint: str) -> S3Client:
    """A client that all stores of the cluster understand, with one try per request."""
    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": "path"},
        connect_timeout=5,
        read_timeout=20,
        retries={"total_max_attempts": 1},
    )
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=stores.ACCESS_KEY,
        aws_secret_access_key=stores.SECRET_KEY,
        region_name="us-east-1",
        config=config,
    )
