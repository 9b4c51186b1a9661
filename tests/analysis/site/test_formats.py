import pytest

from agentbench_analysis.site import formats


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (formats.money(1234.5), "$1,234.50"),
        (formats.money("0.0042"), "$0.0042"),
        (formats.money(0), "$0.00"),
        (formats.number(1234567), "1,234,567"),
        (formats.number(0.8312, 3), "0.831"),
        (formats.percent(0.875), "87.5 %"),
        (formats.points(-0.1), "\N{MINUS SIGN}10.0 pp"),
        (formats.points(0.0361), "+3.6 pp"),
        (formats.points(0.0), "0.0 pp"),
        (formats.duration(41.23), "41.2 s"),
        (formats.duration(727), "12 m 07 s"),
        (formats.duration(3720), "1 h 02 m"),
        (formats.clock(4.23), "4.2 s"),
        (formats.clock(461), "07:41"),
        (formats.clock(4000), "66:40"),
        (formats.size(512), "512 B"),
        (formats.size(5 * 1024 * 1024), "5.0 MiB"),
        (formats.moment("2026-11-30T14:07:31Z"), "2026-11-30 14:07 UTC"),
        (formats.moment("2026-11-30T16:07:31+02:00"), "2026-11-30 14:07 UTC"),
        (formats.moment("whenever"), "whenever"),
    ],
)
def test_a_number_reads_as_people_write_it(shown: str, wanted: str) -> None:
    assert shown == wanted


@pytest.mark.parametrize(
    "shown",
    [
        formats.money(None),
        formats.number(None),
        formats.percent(None),
        formats.points(None),
        formats.duration(None),
        formats.clock(None),
    ],
)
def test_what_is_not_known_is_a_dash_and_never_zero(shown: str) -> None:
    assert shown == formats.UNKNOWN
