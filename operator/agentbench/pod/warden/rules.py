"""Patterns of well-known credentials: the detectors of detect-secrets, and whole private keys.

Only detectors that know a credential by its shape are used. Those that guess (high entropy, words
such as "password", user and password in a URL, addresses) would black out the work under test.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector

LONGEST = 8 * 1024  # bytes: the longest credential that is found across the edges of chunks


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern; `signs` are texts of which one stands in every match, a fast way to say no."""

    name: str
    pattern: re.Pattern[bytes]
    signs: tuple[bytes, ...]

    def find(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where it matches, as start and end."""
        if any(sign in text for sign in self.signs):
            yield from (match.span() for match in self.pattern.finditer(text))


_DETECTORS: tuple[tuple[str, type[RegexBasedDetector], tuple[bytes, ...]], ...] = (
    ("aws-key", AWSKeyDetector, (b"AKIA", b"ASIA", b"ABIA", b"ACCA", b"A3T")),
    ("azure-storage-key", AzureStorageKeyDetector, (b"AccountKey=",)),
    ("github-token", GitHubTokenDetector, (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_")),
    ("gitlab-token", GitLabTokenDetector, (b"gl", b"GR1348941")),
    ("openai-key", OpenAIDetector, (b"T3BlbkFJ",)),
    ("pypi-token", PypiTokenDetector, (b"pypi-Ag",)),
    ("sendgrid-key", SendGridDetector, (b"SG.",)),
    ("slack-token", SlackDetector, (b"xox", b"XOX", b"hooks.slack.com")),
    ("square-secret", SquareOAuthDetector, (b"sq0csp-",)),
    ("stripe-key", StripeDetector, (b"k_live_",)),
)

_OWN = (
    Rule("anthropic-key", re.compile(rb"sk-ant-[A-Za-z0-9_-]{24,200}"), (b"sk-ant-",)),
    Rule(
        "openai-key",
        re.compile(rb"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,250}"),
        (b"sk-proj-", b"sk-svcacct-", b"sk-admin-", b"sk-None-"),
    ),
    Rule("google-key", re.compile(rb"AIza[0-9A-Za-z_-]{35}"), (b"AIza",)),
    Rule("hugging-face-token", re.compile(rb"\bhf_[A-Za-z]{34}\b"), (b"hf_",)),
    Rule("github-token", re.compile(rb"github_pat_[A-Za-z0-9_]{60,100}"), (b"github_pat_",)),
    # Of the detectors for npm tokens and JWTs the patterns are not bounded: slow on long lines.
    Rule(
        "npm-token",
        re.compile(rb"\bnpm_[A-Za-z0-9]{36}\b|_authToken=\s{0,8}[A-Fa-f0-9-]{36}"),
        (b"npm_", b"_authToken"),
    ),
    Rule(
        "jwt",
        re.compile(
            rb"\beyJ[A-Za-z0-9_=-]{8,1024}\.eyJ[A-Za-z0-9_=-]{8,4096}\.[A-Za-z0-9_=-]{8,1024}"
        ),
        (b"eyJ",),
    ),
    # A key whose end is missing (a cut output) is taken out as far as it goes.
    Rule(
        "private-key",
        re.compile(
            rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:"
            rb"(?s:.{16,7000}?)-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            rb"|[A-Za-z0-9+/=\s\\\\]{16,7000})"
        ),
        (b"PRIVATE KEY",),
    ),
)


def _of_detectors() -> Iterator[Rule]:
    for name, detector, signs in _DETECTORS:
        for pattern in detector().denylist:
            source, flags = pattern.pattern, pattern.flags & ~re.UNICODE
            if "aws.{0,20}" in source:
                # Any 40 characters behind the word "aws": a guess, and slow on long lines.
                continue
            yield Rule(name, re.compile(source.encode(), flags), signs)


RULES: tuple[Rule, ...] = (*_OWN, *_of_detectors())
