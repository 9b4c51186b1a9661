"""A gateway credential says who may go where until when, and cannot be forged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench.core.credentials import (
    MAX_USER,
    CredentialError,
    Pass,
    allows,
    password,
    read,
    verify,
)
from agentbench.pod.gateway_helper import allowed, authenticate

KEY = b"a key of the installation"
ENTRY = Pass(caller="run-a1", kind="agent", hosts=("npm.test", "git.test:22"), expires=1000)


def test_a_credential_tells_what_it_was_made_of() -> None:
    user = ENTRY.user()
    assert verify(user, password(user, KEY), KEY, now=999) == ENTRY
    assert ":" not in user


@given(st.text(max_size=40), st.text(max_size=80))
def test_no_other_user_and_password_is_taken(user: str, given_: str) -> None:
    with pytest.raises(CredentialError):
        verify(user, given_, KEY, now=0)


def test_a_caller_cannot_widen_its_own_list() -> None:
    wider = Pass(caller="run-a1", kind="model", hosts=("evil.test",), expires=9999).user()
    with pytest.raises(CredentialError, match="not that of this user"):
        verify(wider, password(ENTRY.user(), KEY), KEY, now=0)


def test_a_credential_ends() -> None:
    user = ENTRY.user()
    with pytest.raises(CredentialError, match="expired"):
        verify(user, password(user, KEY), KEY, now=1001)


def test_only_listed_hosts_and_ports_are_allowed() -> None:
    assert allows(ENTRY.hosts, "npm.test", 443)
    assert allows(ENTRY.hosts, "NPM.test", 443)
    assert allows(ENTRY.hosts, "git.test", 22)
    assert not allows(ENTRY.hosts, "npm.test", 80)
    assert not allows(ENTRY.hosts, "git.test", 443)
    assert not allows(ENTRY.hosts, "sub.npm.test", 443)
    assert not allows((), "npm.test", 443)


def test_a_list_too_long_for_a_proxy_is_refused_with_the_cure() -> None:
    hosts = tuple(f"host-{number}.example.org" for number in range(500))
    with pytest.raises(CredentialError, match="list fewer hosts"):
        Pass(caller="x", kind="agent", hosts=hosts, expires=1).user()
    assert MAX_USER < 8192


def test_the_helpers_answer_as_squid_expects() -> None:
    user = ENTRY.user()
    good = password(user, KEY)
    assert authenticate(f"{user} {good}", KEY, 0) == "OK caller=run-a1 kind=agent"
    assert authenticate(f"{user} {good[::-1]}", KEY, 0).startswith("ERR")
    assert authenticate("nonsense", KEY, 0).startswith("ERR")
    assert allowed(f"{user} npm.test 443") == "OK"
    assert allowed(f"{user} evil.test 443") == "ERR"
    assert allowed(f"{user} npm.test nonsense").startswith("ERR")
    assert allowed("").startswith("ERR")
    assert read(user) == ENTRY
