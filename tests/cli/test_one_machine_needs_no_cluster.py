"""What works on one machine does not need the libraries of a cluster."""

import subprocess
import sys

import pytest

READERS = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("kubernetes", "boto3", "kopf"):
            raise ImportError(name + " is not installed")
sys.meta_path.insert(0, Absent())
from agentbench.cli.main import run
raise SystemExit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", ["report", "site", "list", "show", "logs", "doctor"])
def test_a_command_on_a_pack_asks_for_no_client_of_kubernetes(command: str) -> None:
    words = [command] if command == "doctor" else [command, "nowhere"]
    done = subprocess.run(
        [sys.executable, "-c", READERS, *words],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "is not installed" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
