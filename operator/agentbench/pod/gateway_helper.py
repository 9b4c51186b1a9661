"""Squid's two helpers: who is it (HMAC), and may it go there (the list inside its credential).

    python -m agentbench.pod.gateway_helper auth KEYFILE

answers basic authentication, a line `USER PASSWORD`; with `allow` in place of `auth` it answers
an external ACL, a line `USER HOST PORT`. Both say OK or ERR. With OK the first names caller and
class, by which the log then knows them: a name that nobody proved is in no line of it.
"""

import sys
import time
from pathlib import Path
from urllib.parse import unquote

from agentbench.core.credentials import CredentialError, allows, read, verify


def authenticate(line: str, key: bytes, now: float) -> str:
    """Squid's answer to a user name and password."""
    user, _, given = line.partition(" ")
    try:
        entry = verify(unquote(user), unquote(given), key, now)
    except CredentialError as error:
        return f'ERR message="{error}"'
    return f"OK caller={entry.caller} kind={entry.kind}"


def allowed(line: str) -> str:
    """Squid's answer to a user name, a host and a port; the user was authenticated before."""
    words = [unquote(word) for word in line.split(" ")]
    try:
        user, host, port = words[:3]
        entry = read(user)
        return "OK" if allows(entry.hosts, host, int(port)) else "ERR"
    except ValueError as error:
        return f'ERR message="{error}"'


def main(argv: list[str]) -> None:
    """Answer line by line until Squid closes the pipe."""
    mode, key = argv[0], Path(argv[1]).read_bytes().strip()
    for line in sys.stdin:
        asked = line.rstrip("\n")
        answer = authenticate(asked, key, time.time()) if mode == "auth" else allowed(asked)
        print(answer, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
