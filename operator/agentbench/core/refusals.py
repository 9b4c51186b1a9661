"""What the gateway refused, by caller: read from its access log, within bounds.

A line of the log has these words:

    TIME CLIENT CALLER CLASS METHOD STATUS RESULT TARGET

CALLER and CLASS are what an authenticated credential says, `-` where there was none; they count
for nothing where STATUS is 407. A refusal
without a credential is laid to whoever last used one from the same address: a pod's address is
its own for as long as it lives. An address that two callers use at the same time tells nothing.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from urllib.parse import urlsplit

MAX_CALLERS = 5_000
MAX_TARGETS = 50
"""Different refusals kept of one caller; of what goes beyond, only the number is known."""
MAX_TARGET = 120  # characters
MAX_LINES = 20  # of a row
NOBODY = "-"
CHALLENGE = "407"
BEYOND = "other addresses"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One line of the gateway's log."""

    client: str
    caller: str
    kind: str
    method: str
    status: str
    refused: bool
    target: str  # host and port


def read_access(line: str) -> Access | None:
    """Read a line of the log; None if it is none."""
    words = line.strip().split(maxsplit=7)
    if len(words) != 8:
        return None
    _, client, caller, kind, method, status, result, target = words
    # A name with a wrong password is somebody else's: the gateway may know it from before.
    proven = status != CHALLENGE
    return Access(
        client=client,
        caller=caller if proven else NOBODY,
        kind=kind if proven else NOBODY,
        method=method[:20],
        status=status[:3],
        refused="DENIED" in result,
        target=_host_and_port(target, method),
    )


def _host_and_port(target: str, method: str) -> str:
    """No path and no query: they may hold secrets, and are of no use to whoever reads this."""
    if method == "CONNECT":
        return target[:MAX_TARGET]
    try:
        parts = urlsplit(target)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return target.partition("?")[0][:MAX_TARGET]
    return f"{parts.hostname or ''}:{port}"[:MAX_TARGET]


@dataclass(slots=True)
class _Owner:
    """Who uses credentials from an address. Addresses of pods are given out again."""

    now: str
    before: str = ""
    shared: bool = False

    def saw(self, caller: str) -> None:
        """One who comes back after another came has not gone: both are there at once."""
        if caller == self.now:
            return
        self.shared = self.shared or caller == self.before
        self.before, self.now = self.now, caller


@dataclass(slots=True)
class Refusals:
    """Counts refusals, of the callers that were heard of last."""

    _by_caller: OrderedDict[str, dict[str, int]] = field(default_factory=OrderedDict)
    _owners: OrderedDict[str, _Owner] = field(default_factory=OrderedDict)

    def add(self, access: Access) -> None:
        """Take note of a line."""
        if access.caller == NOBODY:
            owner = self._owners.get(access.client)
            if owner is not None and not owner.shared and access.refused:
                self._count(owner.now, _told(access))
            return
        _owner(self._owners, access.client, access.caller)
        # Some clients ask without their credential first: a challenge that is met is no refusal.
        met = _told(replace(access, caller=NOBODY, status=CHALLENGE))
        self._by_caller.get(access.caller, {}).pop(met, None)
        if access.refused:
            self._count(access.caller, _told(access))

    def of(self, caller: str) -> Mapping[str, int]:
        """How often each thing was refused to a caller."""
        return dict(self._by_caller.get(caller, {}))

    def _count(self, caller: str, told: str) -> None:
        counts = self._by_caller.setdefault(caller, {})
        self._by_caller.move_to_end(caller)
        key = told if told in counts or len(counts) < MAX_TARGETS else BEYOND
        counts[key] = counts.get(key, 0) + 1
        while len(self._by_caller) > MAX_CALLERS:
            self._by_caller.popitem(last=False)

    def encode(self) -> str:
        """Everything that is known, as JSON."""
        owners = {client: asdict(owner) for client, owner in self._owners.items()}
        return json.dumps({"refused": self._by_caller, "owners": owners})

    @classmethod
    def decode(cls, text: str) -> "Refusals":
        """What `encode` wrote; ValueError or TypeError if it is something else."""
        document = json.loads(text)
        owners = {client: _Owner(**owner) for client, owner in document["owners"].items()}
        return cls(OrderedDict(document["refused"]), OrderedDict(owners))


def _owner(owners: OrderedDict[str, _Owner], client: str, caller: str) -> None:
    owners.setdefault(client, _Owner(caller)).saw(caller)
    owners.move_to_end(client)
    while len(owners) > MAX_CALLERS:
        owners.popitem(last=False)


def _told(access: Access) -> str:
    kind = "no valid credential" if access.caller == NOBODY else access.kind
    return f"{kind}: {access.method} {access.target} ({access.status})"


def lines_of(answers: Iterable[Mapping[str, int]], limit: int = MAX_LINES) -> tuple[str, ...]:
    """The refusals of several gateways as lines of a row, each with how often it came."""
    total: dict[str, int] = {}
    for answer in answers:
        for told, count in answer.items():
            total[told] = total.get(told, 0) + count
    kept = sorted(total)[:limit]
    more = len(total) - len(kept)
    lines = [told if total[told] == 1 else f"{told}, {total[told]} times" for told in kept]
    return (*lines, *((f"and {more} more addresses",) if more else ()))
