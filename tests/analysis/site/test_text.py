from hypothesis import given
from hypothesis import strategies as st

from agentbench_analysis.site.text import clean, clip, line, sentence


def test_terminal_colours_are_removed_and_other_controls_are_shown() -> None:
    assert clean("\x1b[1;31mred\x1b[0m \x1b]0;title\x07bell\x07 nul\x00") == "red bell␇ nul␀"


def test_a_text_cannot_turn_the_reading_direction() -> None:
    assert clean("abc\u202edef\u2066") == "abc<U+202E>def<U+2066>"


def test_lone_surrogates_become_a_character_that_can_be_encoded() -> None:
    assert clean("\ud800x").encode() == "\ufffdx".encode()


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    kept = clip("a" * 500 + "z" * 500, 100)
    assert (kept.head, kept.omitted, kept.tail) == ("a" * 75, 900, "z" * 25)


def test_a_short_text_is_kept_whole() -> None:
    assert clip("as it is", 100) == clip("as it is", 8)
    assert clip("as it is", 8).omitted == 0


def test_nothing_is_kept_where_nothing_may_be() -> None:
    assert clip("text", 0).size == 0


def test_one_line_has_no_line_break_and_a_bounded_length() -> None:
    assert line("two\nlines\t and  more") == "two lines and more"
    assert line("x" * 1000, 10) == "x" * 9 + "…"


def test_a_sentence_starts_large_and_ends_with_a_full_stop() -> None:
    assert sentence("the bound is low") == "The bound is low."
    assert sentence("Why?") == "Why?"


@given(st.text(alphabet=st.characters(), max_size=400), st.integers(0, 300))
def test_whatever_the_text_is_it_can_be_encoded_and_stays_in_bounds(text: str, limit: int) -> None:
    kept = clip(text, limit)
    (kept.head + kept.tail).encode()
    assert kept.omitted == max(0, len(text) - limit)
