"""The analysis of one campaign on a cluster: `python -m agentbench.app.publish`.

Reads rows and adjudications from the campaign's store and writes `published/<n>/` and
`published/latest.json` there. It is told by its environment:

    AGENTBENCH_CAMPAIGN        the campaign's name, its folder in the store
    AGENTBENCH_STORE_URL       s3://bucket/prefix, or a folder
    AGENTBENCH_STORE_ENDPOINT  address of an S3 service that is not AWS (optional)
    AGENTBENCH_STORE_REGION    its region (optional)

and takes keys and proxy from the variables that every S3 client knows. Exit code 0 if the newest
result is up to date, or there is no row yet; 1 if somebody has to correct something; 75 if the
store does not answer, and trying again may help.
"""

import json
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from agentbench import __version__
from agentbench.app.pack import BundleError
from agentbench.app.publishing import Publisher
from agentbench.core.publication import PublicationError
from agentbench.core.registered import RegisteredError
from agentbench.store.open import open_store
from agentbench.store.port import StoreError, Unreachable
from agentbench_analysis.errors import AnalysisError, NoRowsError

MESSAGE = Path("/dev/termination-log")
MESSAGE_LIMIT = 2000
DONE, WRONG, LATER = 0, 1, 75


def run(env: Mapping[str, str]) -> tuple[int, str]:
    """Publish once; gives the exit code, and what became of it in a sentence."""
    name, url = env.get("AGENTBENCH_CAMPAIGN", ""), env.get("AGENTBENCH_STORE_URL", "")
    for variable, value in (("AGENTBENCH_CAMPAIGN", name), ("AGENTBENCH_STORE_URL", url)):
        if not value:
            return WRONG, f"{variable} is not set; the operator's CronJob sets it"
    try:
        store = open_store(
            url,
            endpoint=env.get("AGENTBENCH_STORE_ENDPOINT") or None,
            region=env.get("AGENTBENCH_STORE_REGION") or None,
        )
        found = Publisher(store, name, __version__, lambda: datetime.now(tz=UTC)).publish()
    except NoRowsError as error:
        return DONE, f"nothing to publish: {error}"
    except Unreachable as error:
        return LATER, str(error)
    except (AnalysisError, BundleError, PublicationError, RegisteredError, StoreError) as error:
        return WRONG, str(error)
    latest = found.latest
    what = "published" if found.new else "up to date"
    where = f"{name}/published/{latest.number}"
    return DONE, f"{what}: {where}, {latest.scored} of {latest.planned} runs"


def main() -> int:
    """Publish once, and say so where the operator looks; gives the exit code."""
    code, message = run(os.environ)
    print(message, file=sys.stderr if code else sys.stdout)
    if MESSAGE.exists():
        MESSAGE.write_text(json.dumps({"code": code, "message": message[:MESSAGE_LIMIT]}))
    return code


if __name__ == "__main__":
    raise SystemExit(main())
