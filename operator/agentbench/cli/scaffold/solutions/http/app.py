"""The app: two routes. It listens on $PORT."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        route = urlsplit(self.path)
        if route.path == "/health":
            self.answer(200, "ok")
        elif route.path == "/greet":
            name = parse_qs(route.query).get("name", [""])[0]
            if name:
                self.answer(200, f"Hello, {name}!")
            else:
                self.answer(400, "name is missing")
        else:
            self.answer(404, "not found")

    def answer(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), App).serve_forever()
