"""The gateway's log becomes each caller's refusals, and nobody can write into another's."""

from agentbench.core.refusals import (
    BEYOND,
    MAX_CALLERS,
    MAX_TARGETS,
    Refusals,
    lines_of,
    read_access,
)

DENIED, ALLOWED = "403 TCP_DENIED", "200 TCP_MISS"


def line(
    target: str, end: str = DENIED, caller: str = "pod-a agent", method: str = "GET", ip: str = "a"
) -> str:
    return f"1796075853.079 {ip} {caller} {method} {end} {target}\n"


def told(*lines: str, caller: str = "pod-a") -> dict[str, int]:
    refusals = Refusals()
    for each in lines:
        access = read_access(each)
        assert access is not None
        refusals.add(access)
    return dict(refusals.of(caller))


def test_a_refused_address_is_told_without_its_path_and_how_often_it_was_tried() -> None:
    asked = line("http://x.test/path?secret=1")
    tunnel = line("y.test:443", method="CONNECT")
    assert told(asked, asked, tunnel, line("http://ok.test/", ALLOWED)) == {
        "agent: GET x.test:80 (403)": 2,
        "agent: CONNECT y.test:443 (403)": 1,
    }


def test_one_without_a_credential_is_laid_to_the_caller_of_that_address() -> None:
    known = line("http://ok.test/", ALLOWED)
    nobody = line("http://x.test/", "407 TCP_DENIED", "- -")
    elsewhere = line("http://x.test/", "407 TCP_DENIED", "- -", ip="b")
    assert told(known, nobody, elsewhere) == {"no valid credential: GET x.test:80 (407)": 1}


def test_a_name_with_a_wrong_password_writes_nothing_into_that_callers_list() -> None:
    victim = line("http://ok.test/", ALLOWED, "pod-v agent", ip="v")
    mine = line("http://ok.test/", ALLOWED, "pod-a agent", ip="a")
    forged = line("http://evil.test/", "407 TCP_DENIED", "pod-v agent", ip="a")
    assert told(victim, mine, forged, caller="pod-v") == {}
    assert told(victim, mine, forged) == {"no valid credential: GET evil.test:80 (407)": 1}


def test_a_challenge_that_is_met_is_no_refusal() -> None:
    first = line("http://ok.test/", ALLOWED)
    challenge = line("x.test:443", "407 TCP_DENIED", "- -", "CONNECT")
    met = line("x.test:443", ALLOWED, method="CONNECT")
    assert told(first, challenge, met) == {}


def test_an_address_that_is_given_out_again_belongs_to_its_new_caller() -> None:
    old = line("http://ok.test/", ALLOWED, "pod-old agent")
    new = line("http://ok.test/", ALLOWED)
    nobody = line("http://x.test/", "407 TCP_DENIED", "- -")
    assert len(told(old, new, nobody)) == 1
    assert told(old, new, nobody, caller="pod-old") == {}


def test_an_address_that_two_callers_use_at_once_tells_nothing() -> None:
    one, two = line("http://ok.test/", ALLOWED), line("http://ok.test/", ALLOWED, "pod-b agent")
    nobody = line("http://x.test/", "407 TCP_DENIED", "- -")
    assert told(one, two, one, nobody) == {}


def test_no_caller_can_fill_the_memory() -> None:
    many = [line(f"http://x{number}.test/") for number in range(1000)]
    found = told(*many)
    assert len(found) == MAX_TARGETS + 1
    assert found[BEYOND] == 1000 - MAX_TARGETS
    callers = [line("http://x.test/", caller=f"pod-{number} agent") for number in range(6000)]
    assert told(*callers, caller=f"pod-{5999 - MAX_CALLERS}") == {}
    assert len(told(*callers, caller="pod-5999")) == 1


def test_what_is_kept_is_read_again() -> None:
    refusals = Refusals()
    for each in (line("http://x.test/"), line("http://y.test/")):
        access = read_access(each)
        assert access is not None
        refusals.add(access)
    again = Refusals.decode(refusals.encode())
    nobody = read_access(line("http://z.test/", "407 TCP_DENIED", "- -"))
    assert nobody is not None
    again.add(nobody)
    assert len(again.of("pod-a")) == 3


def test_a_line_that_is_none_is_passed_over() -> None:
    assert read_access("short line") is None
    assert read_access("") is None


def test_answers_of_two_gateways_are_added_up_and_bounded() -> None:
    many = {f"agent: GET x{number:02}.test:80 (403)": 1 for number in range(30)}
    lines = lines_of([many, {"agent: GET x00.test:80 (403)": 2}], limit=3)
    assert lines == (
        "agent: GET x00.test:80 (403), 3 times",
        "agent: GET x01.test:80 (403)",
        "agent: GET x02.test:80 (403)",
        "and 27 more addresses",
    )
