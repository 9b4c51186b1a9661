import pytest

from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.site.benchmarks import benchmarks_from


def test_a_package_has_a_link_or_no_benchmark() -> None:
    data = {
        "packages": [
            {"package": "@arki/ai", "link": None},
            {"package": "@arki/db", "link": "https://x.y"},
        ]
    }
    found = benchmarks_from(data, "benchmarks.json")
    assert found.published == 1
    assert [each.package for each in found.packages] == ["@arki/ai", "@arki/db"]


@pytest.mark.parametrize(
    ("packages", "field", "words"),
    [
        ([{"package": "a", "link": "javascript:alert(1)"}], "packages.0.link", "not an address"),
        ([{"package": "a"}, {"package": "a"}], "packages.1.package", "listed twice"),
        ([{"link": "https://x.y"}], "packages.0.package", "missing"),
        ([{"package": "a", "url": "https://x.y"}], "packages.0.url", "not a known field"),
    ],
)
def test_a_line_that_does_not_fit_is_named(
    packages: list[dict[str, str]], field: str, words: str
) -> None:
    with pytest.raises(AnalysisError, match=words) as error:
        benchmarks_from({"packages": packages}, "benchmarks.json")
    assert field in str(error.value)
    assert "benchmarks.json" in str(error.value)
