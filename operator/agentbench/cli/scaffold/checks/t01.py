#!/usr/bin/env python3
"""The check of T01: from outside, over HTTP. Exit 0 pass, 1 fail; anything else is our fault."""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


def get(path):
    """Status, content type and text of an answer."""
    try:
        with urllib.request.urlopen(os.environ["APP_URL"] + path, timeout=10) as answer:
            return answer.status, answer.headers.get_content_type(), answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers.get_content_type(), answer.read().decode()


def greets():
    status, _, text = get("/greet?name=" + urllib.parse.quote("Zoë"))
    return status == 200 and "Hello, Zoë!" in text, f"{status} {text[:100]!r}"


def refuses_no_name():
    answers = [get("/greet")[0], get("/greet?name=")[0]]
    return answers == [400, 400], f"statuses {answers}"


def writes_no_markup():
    _, kind, text = get("/greet?name=" + urllib.parse.quote("<b>x</b>"))
    return kind == "text/plain" or "<b>" not in text, f"{kind} {text[:100]!r}"


passed = True
with open(os.environ["CHECK_REPORT"], "a", encoding="utf-8") as report:
    for name, check in {
        "greets": greets,
        "refuses-no-name": refuses_no_name,
        "writes-no-markup": writes_no_markup,
    }.items():
        ok, detail = check()
        passed &= ok
        report.write(json.dumps({"assert": name, "ok": ok, "detail": detail}) + "\n")
sys.exit(0 if passed else 1)
