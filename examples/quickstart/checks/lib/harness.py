"""The harness API: start and stop the app, run its commands, move its clock, read its log."""

import http.client
import json
import os
from urllib.parse import quote, urlsplit

from lib.report import Failed, HarnessError

TIMEOUT = 120


class Harness:
    """Speaks to $HARNESS_URL; HarnessError where it does not do its part."""

    def __init__(self, url, token=""):
        parts = urlsplit(url)
        self.host, self.port, self.path = parts.hostname, parts.port or 80, parts.path.rstrip("/")
        self.headers = {"connection": "close", "content-type": "application/json"}
        if token:
            self.headers["authorization"] = f"Bearer {token}"

    @classmethod
    def from_environment(cls):
        """The harness of this check."""
        return cls(os.environ["HARNESS_URL"], os.environ.get("HARNESS_TOKEN", ""))

    def ask(self, method, path, body=None):
        """Status and bytes of an answer."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, self.path + path, content, self.headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise HarnessError(f"{method} {path}: {error}") from None
        finally:
            connection.close()

    def command(self, path, body=None):
        """POST and return the answer's object; Failed where the app is what did not work."""
        status, content = self.ask("POST", path, body)
        try:
            answer = json.loads(content or b"{}")
        except ValueError:
            answer = {}
        if status >= 300:
            raise HarnessError(f"POST {path} answered {status} {content[:500]!r}")
        if isinstance(answer, dict) and answer.get("ok") is False:
            raise Failed(f"{path}: {answer.get('detail') or content[:500].decode('utf-8', 'replace')}")
        return answer

    def restart(self):
        """Restart the app; Failed if it does not come up again."""
        return self.command("/app/restart", {})

    def run(self, command):
        """Run the stack's `migrate`, `build` or `test`; Failed if it does not exit with 0."""
        return self.command("/app/run", {"command": command})

    def set_clock(self, time):
        """Move the app's clock to a time (RFC 3339, UTC) and restart it; False if there is none."""
        status, content = self.ask("POST", "/clock", {"set": time})
        if status == 501:
            return False
        if status >= 300:
            raise HarnessError(f"POST /clock answered {status} {content[:500]!r}")
        return True

    def log(self):
        """What the app has logged so far."""
        status, content = self.ask("GET", "/app/log")
        if status != 200:
            raise HarnessError(f"GET /app/log answered {status}")
        return content.decode("utf-8", "replace")

    def lockfile(self, name):
        """A lock file of the app, by the name that the stack gives it."""
        status, content = self.ask("GET", f"/lockfile/{quote(name)}")
        if status != 200:
            raise Failed(f"lock file {name}: answered {status}")
        return content.decode("utf-8", "replace")
