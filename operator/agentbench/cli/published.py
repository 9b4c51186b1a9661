"""Published results, read from object storage."""

from agentbench.cli.remote import Remote
from agentbench.core.keys import latest_key, published_key
from agentbench.core.publication import decode_latest
from agentbench.store.port import NotFound
from agentbench_analysis.errors import NoRowsError
from agentbench_analysis.results.files import RESULTS_FILE


def read_results(remote: Remote) -> bytes:
    """The bytes of a `results.json`: the one named, or the newest of the campaign named.

    Raises:
        NoRowsError: nothing is there, or nothing was published yet.
        StoreError: the store does not answer.
    """
    around, name = remote.parent
    store = around.open()
    if name.endswith(".json"):
        try:
            return store.get(name)
        except NotFound:
            cure = "agent-bench report --out DIR writes one."
            raise NoRowsError("there are no results", file=str(remote), cure=cure) from None
    entry = store.read(latest_key(name))
    if entry is None:
        raise NoRowsError(
            "nothing was published yet", file=f"{around}/{latest_key(name)}",
            cure="Name s3://bucket/prefix/campaign; agent-bench report reads its rows directly.",
        )  # fmt: skip
    latest = decode_latest(entry.content, latest_key(name))
    return store.get(published_key(name, latest.number, RESULTS_FILE))
