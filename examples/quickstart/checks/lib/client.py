"""A small HTTP client that remembers what it was told, so that secrets in answers are found."""

import http.client
import json
from urllib.parse import quote, urlencode, urlsplit

from lib.report import Failed

TIMEOUT = 10


class Answer:
    """Status, headers and body of an answer, and the request that it answers."""

    def __init__(self, asked, status, headers, body):
        self.asked = asked
        self.status = status
        self.headers = headers
        self.text = body.decode("utf-8", "replace")

    def __str__(self):
        return f"{self.asked} answered {self.status} {self.text[:200]}".strip()

    @property
    def ok(self):
        """Whether it is a success, whichever 2xx the app chose."""
        return 200 <= self.status < 300

    @property
    def json(self):
        """The body as JSON; Failed if it is none."""
        try:
            return json.loads(self.text)
        except ValueError:
            raise Failed(f"{self}: no JSON") from None

    def field(self, name, kind=object):
        """A field of the JSON object; Failed if it is not there or of another type."""
        value = self.json
        if not isinstance(value, dict) or not isinstance(value.get(name), kind):
            raise Failed(f"{self}: no field {name}")
        return value[name]

    def success(self):
        """Itself, if it is a success; Failed otherwise."""
        if not self.ok:
            raise Failed(str(self))
        return self

    def refused(self, *statuses):
        """Itself, if its status is one of these; Failed otherwise."""
        if self.status not in statuses:
            raise Failed(f"{self}, expected {' or '.join(map(str, statuses))}")
        return self


class Client:
    """Sends requests to an app, as one user or as nobody."""

    def __init__(self, url, token=None, seen=None):
        parts = urlsplit(url)
        self.host, self.port, self.path = parts.hostname, parts.port or 80, parts.path.rstrip("/")
        self.url = url
        self.token = token
        self.seen = [] if seen is None else seen

    def signed_in(self, token):
        """The same app, as another user."""
        return Client(self.url, token, self.seen)

    def ask(self, method, path, body=None, headers=None, query=None):
        """Send a request; Failed if nothing answers within 10 s."""
        headers = {"connection": "close", **(headers or {})}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("content-type", "application/json")
        target = self.path + quote(path, safe="/%") + ("?" + urlencode(query) if query else "")
        asked = f"{method} {target}"
        connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT)
        try:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            answer = Answer(asked, response.status, response.headers, response.read(1_000_000))
        except (OSError, http.client.HTTPException) as error:
            raise Failed(f"{asked}: no answer ({type(error).__name__}: {error})") from None
        finally:
            connection.close()
        self.seen.append(answer)
        return answer

    def get(self, path, **query):
        """GET a path."""
        return self.ask("GET", path, query=query)

    def post(self, path, body):
        """POST a JSON body."""
        return self.ask("POST", path, body)

    def put(self, path, body):
        """PUT a JSON body."""
        return self.ask("PUT", path, body)

    def delete(self, path):
        """DELETE a path."""
        return self.ask("DELETE", path)
