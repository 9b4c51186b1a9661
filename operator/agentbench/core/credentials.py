"""Credentials for the gateway: each names its caller, its class, its hosts and its end.

The user name carries everything that the gateway must know, and the password is the HMAC of it,
so the gateway keeps no state, and a restart loses none.
"""

import base64
import binascii
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

MAX_USER = 6000
"""Characters of a user name that proxies and their helpers pass on unharmed."""


GATEWAY_HOST = "log.gateway.agentbench.internal:80"
"""The gateway's own name: what it refused to a caller is told there, to that caller's warden."""


class CredentialError(ValueError):
    """A credential cannot be made, or is not to be trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What one caller may do: reach these hosts, until an instant (seconds of Unix time)."""

    caller: str  # the attempt's pod name
    kind: str  # agent, model, store or log
    hosts: tuple[str, ...]  # host, or host:port where the port is not 443
    expires: int

    def user(self) -> str:
        """The user name: what the pass says, in the letters that every proxy takes."""
        words = {"a": self.caller, "c": self.kind, "h": list(self.hosts), "x": self.expires}
        text = json.dumps(words, separators=(",", ":"), sort_keys=True).encode()
        user = base64.urlsafe_b64encode(text).decode().rstrip("=")
        if len(user) > MAX_USER:
            raise CredentialError(
                f"egress: {len(self.hosts)} hosts make a credential of {len(user)} characters, "
                f"the limit is {MAX_USER}; list fewer hosts"
            )
        return user


def password(user: str, key: bytes) -> str:
    """The HMAC of a user name, in hex."""
    return hmac.new(key, user.encode(errors="replace"), sha256).hexdigest()


def proxy_url(gateway: str, entry: Pass, key: bytes) -> str:
    """The gateway's address with a caller's credential in it."""
    user = entry.user()
    return f"http://{user}:{password(user, key)}@{gateway}"


def verify(user: str, given: str, key: bytes, now: float) -> Pass:
    """The pass that a credential stands for.

    Raises:
        CredentialError: it is forged, spoilt or too old.
    """
    if not hmac.compare_digest(password(user, key).encode(), given.encode(errors="replace")):
        raise CredentialError("the password is not that of this user")
    entry = read(user)
    if entry.expires < now:
        raise CredentialError(f"the credential of {entry.caller} has expired")
    return entry


def read(user: str) -> Pass:
    """What a user name says, without trusting it."""
    try:
        words = json.loads(base64.urlsafe_b64decode(user + "=" * (-len(user) % 4)))
        return Pass(
            caller=str(words["a"]),
            kind=str(words["c"]),
            hosts=tuple(map(str, words["h"])),
            expires=int(words["x"]),
        )
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        raise CredentialError("the user name is none of ours") from error


def allows(hosts: Sequence[str], host: str, port: int) -> bool:
    """Whether a host and port are on a list; an entry without a port means 443."""
    names = {host.lower(), f"{host.lower()}:{port}"} if port == 443 else {f"{host.lower()}:{port}"}
    return any(entry.lower() in names for entry in hosts)
