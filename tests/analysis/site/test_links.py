import dataclasses

import pytest
from tests.fakes.site import fake_site

from agentbench_analysis.results.model import Standing
from agentbench_analysis.site.links import Links, file_name


def test_a_run_keeps_its_address_when_its_rerun_scores() -> None:
    attempts = fake_site(2).results.attempts
    twice = next(each for each in attempts if each.attempt == 2)
    links = Links(attempts)
    assert links.page(twice) == f"runs/{twice.run}.html"
    first = links.attempts(twice.run)[0]
    assert links.page(first) == f"runs/{twice.run}-attempt-1.html"


def test_a_run_none_of_whose_attempts_scores_has_a_page_too() -> None:
    attempt = dataclasses.replace(fake_site(1).results.attempts[0], standing=Standing.UNSCORED)
    assert Links([attempt]).page(attempt) == f"runs/{attempt.run}.html"


@pytest.mark.parametrize("run", ["../../etc/passwd", "a/b", "", ".", "x" * 300, "a\nb", "\ud800"])
def test_a_name_that_is_no_file_name_never_becomes_one(run: str) -> None:
    name = file_name(run)
    assert name.startswith("run-")
    assert name.removeprefix("run-").isalnum()
    assert file_name(run) == name
