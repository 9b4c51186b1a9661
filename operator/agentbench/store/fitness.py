"""Whether a store keeps the conditions on which no row is ever changed or lost."""

from contextlib import suppress

from agentbench.store.port import Changed, Conflict, Store, StoreError


def require_conditions(store: Store, key: str, place: str) -> None:
    """Prove that the store keeps conditions, by two writes that it must refuse.

    Raises:
        StoreError: it ignores a condition, so it could change a row: it must not be used.
    """
    there = store.read(key)
    if there is None:
        store.create_only(key, b"first")
    before = store.get(key)
    with suppress(Conflict):
        store.create_only(key, b"second" if before == b"first" else b"first")
    if store.get(key) != before:
        raise StoreError(
            f"{place} ignores If-None-Match: it replaces what must never "
            "change. Use a store with conditional writes (AWS S3, versitygw, SeaweedFS, ...)"
        )
    try:
        store.compare_and_swap(key, b"third", '"00000000000000000000000000000000"')
    except Changed:
        return
    raise StoreError(
        f"{place} ignores If-Match: two writers could both win. "
        "Use a store with conditional writes (AWS S3, versitygw, SeaweedFS, ...)"
    )
