"""Free ports of the machine, for sandboxes that have no network of their own."""

from random import SystemRandom

from agentbench.local.sandbox import Sandbox, SandboxError

# Below the range that Linux takes ports for outgoing connections from: what is free now is not
# given to somebody else before a server binds it.
LOWEST, HIGHEST = 20_000, 32_000
_TRIES = 200


async def free_port(sandbox: Sandbox) -> int:
    """A port of the sandbox's loopback on which nothing listens.

    Raises:
        SandboxError: none was found.
    """
    chance = SystemRandom()
    for _ in range(_TRIES):
        port = chance.randint(LOWEST, HIGHEST)
        try:
            listening = await sandbox.listen(port)
        except SandboxError:
            if sandbox.gone.done():
                raise
            continue
        listening.close()
        return port
    raise SandboxError(f"no free port was found between {LOWEST} and {HIGHEST}")
