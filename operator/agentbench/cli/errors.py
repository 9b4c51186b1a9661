"""Which errors a command's user must act on, and with which exit code each ends.

Errors are named, not imported: one can only be raised by a module that is loaded already, and a
command must not load the engine to say that a file is missing.
"""

import sys

from agentbench.cli.exits import Exit
from agentbench.cli.screen import plain

_CODES: tuple[tuple[str, str, Exit], ...] = (
    ("agentbench_analysis.errors", "NoRowsError", Exit.NEGATIVE),
    ("agentbench_analysis.errors", "AnalysisError", Exit.BAD_INPUT),
    ("agentbench.pack.problems", "PackInvalid", Exit.BAD_INPUT),
    ("agentbench.pack.files", "FileRefused", Exit.BAD_INPUT),
    ("agentbench.core.digest", "DigestMismatch", Exit.BAD_INPUT),
    ("agentbench.core.plan", "PlanConflict", Exit.BAD_INPUT),
    ("agentbench.local.freeze_mark", "StoreUsed", Exit.BAD_INPUT),
    ("agentbench.local.preflight", "EngineError", Exit.BAD_INPUT),
    ("agentbench.local.lock", "EngineBusy", Exit.FAILED),
    ("agentbench.local.courier", "KeeperFailed", Exit.FAILED),
    ("agentbench.local.layers", "LayerError", Exit.FAILED),
    ("agentbench.local.nursery", "NurseryError", Exit.FAILED),
    ("agentbench.store.port", "StoreError", Exit.FAILED),
    ("agentbench.app.pack", "BundleError", Exit.BAD_INPUT),
    ("agentbench.core.registered", "RegisteredError", Exit.BAD_INPUT),
    ("agentbench.core.publication", "PublicationError", Exit.BAD_INPUT),
    ("agentbench.cli.cluster.errors", "BadCluster", Exit.BAD_INPUT),
    ("agentbench.kube.errors", "Invalid", Exit.BAD_INPUT),
    ("agentbench.kube.errors", "ClusterError", Exit.FAILED),
    ("builtins", "OSError", Exit.FAILED),
)


def exit_code(error: Exception) -> Exit | None:
    """The exit code of an error, None for one that is a fault of ours."""
    for module, name, code in _CODES:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            return code
    return None


def explain(error: Exception) -> str:
    """An error as the user reads it: a pack's problems one by one."""
    problems = getattr(error, "problems", None)
    if problems is not None:
        head = "1 problem:" if len(problems) == 1 else f"{len(problems)} problems:"
        return plain("\n".join([head, *(f"  {problem}" for problem in problems)]))
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return plain(f"Error: {where}{error.strerror or error}.")
    return plain(f"Error: {error}")
