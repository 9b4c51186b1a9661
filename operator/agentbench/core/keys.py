"""Where things are in a store, below its prefix."""


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")


def bundle_key(sha256: str) -> str:
    """A bundle's manifest."""
    return f"bundles/{_hex(sha256)}.json"


def layer_key(sha256: str) -> str:
    """A layer, compressed."""
    return f"layers/{_hex(sha256)}.tar.zst"


def freeze_key(campaign: str) -> str:
    """The mark of the digest that a campaign's rows belong to."""
    return f"{campaign}/FREEZE.json"


def owner_key(campaign: str) -> str:
    """The mark of the campaign object that writes below this name now."""
    return f"{campaign}/OWNER.json"


def rows_prefix(campaign: str) -> str:
    """Everything below which a campaign's rows are."""
    return f"{campaign}/rows/"


def row_key(campaign: str, run: str, attempt: int) -> str:
    """The row of one attempt."""
    return f"{campaign}/rows/{run}/{attempt}.json"


def adjudications_prefix(campaign: str) -> str:
    """Everything below which a campaign's adjudications are."""
    return f"{campaign}/adjudications/"


def adjudication_key(campaign: str, run: str, seq: int) -> str:
    """One adjudication of a run."""
    return f"{campaign}/adjudications/{run}/{seq}.json"


def artifact_key(campaign: str, run: str, attempt: int, name: str) -> str:
    """One artifact of an attempt."""
    return f"{campaign}/artifacts/{run}/{attempt}/{name}"


def protocol_prefix(campaign: str) -> str:
    """Everything below which a campaign's registered protocol is."""
    return f"{campaign}/protocol/"


def protocol_key(campaign: str, amendments: int) -> str:
    """The protocol as it was registered, with that many amendments."""
    return f"{campaign}/protocol/{amendments}.json"


def published_key(campaign: str, number: int, name: str) -> str:
    """One file of a published result."""
    return f"{campaign}/published/{number}/{name}"


def latest_key(campaign: str) -> str:
    """The pointer to the newest published result."""
    return f"{campaign}/published/latest.json"
