"""Print how many megabytes of an event log are redacted and scanned again per second of CPU.

With `--beside`, print beside it what detect-secrets' own scanner makes of the same file, with all
its detectors, which finds no encoded secret and takes none out.
"""

import json
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from agentbench.pod.warden.publish import publish
from agentbench.pod.warden.redact import Redactor

SIZE = 20_000_000
SECRETS = {
    "anthropic-key": "sk-ant-api03-" + "x9Y8z7" * 15,
    "openai-key": "sk-proj-" + "Q1w2E3" * 20,
    "database": "a-password-of-the-database",
    "gateway": "0123456789abcdef" * 2,
}


def event_log(path: Path) -> None:
    dice = random.Random(1)
    root = Path(__file__).parents[1] / "operator"
    code = "".join(file.read_text() for file in sorted(root.rglob("*.py")))
    with path.open("w") as log:
        while log.tell() < SIZE:
            at = dice.randrange(len(code) - 3000)
            event = {
                "type": "tool_result",
                "out": code[at : at + 3000],
                "id": dice.randbytes(16).hex(),
            }
            log.write(json.dumps(event) + "\n")


def main(beside: bool) -> None:
    with TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        event_log(log)
        began = time.process_time()
        publish(log, Path(folder) / "events.jsonl.zst", Redactor(SECRETS))
        print(round(SIZE / 1e6 / (time.process_time() - began), 1))
        if beside:
            from detect_secrets.core.secrets_collection import SecretsCollection
            from detect_secrets.settings import default_settings

            began = time.process_time()
            with default_settings():
                SecretsCollection().scan_file(str(log))
            print(round(SIZE / 1e6 / (time.process_time() - began), 1), "detect-secrets")


if __name__ == "__main__":
    main("--beside" in sys.argv)
