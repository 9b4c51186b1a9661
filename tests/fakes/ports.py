"""Ports of this machine."""

import socket


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
