"""The app: one route. It listens on $PORT."""

import os
from wsgiref.simple_server import make_server

TEXT = ("Content-Type", "text/plain; charset=utf-8")


def app(environ, start_response):
    if environ["PATH_INFO"] == "/health":
        start_response("200 OK", [TEXT])
        return [b"ok"]
    start_response("404 Not Found", [TEXT])
    return [b"not found"]


if __name__ == "__main__":
    make_server("127.0.0.1", int(os.environ["PORT"]), app).serve_forever()
