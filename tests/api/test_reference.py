"""`docs/api.md` says what the models say."""

from pathlib import Path

from agentbench.api.reference import reference
from agentbench.api.schema import campaign_crd

PAGE = Path(__file__).parents[2] / "docs/api.md"


def test_the_committed_page_is_what_the_models_give() -> None:
    assert PAGE.read_text() == reference(), "run: python -m agentbench.api.reference > docs/api.md"


def test_every_field_of_the_spec_is_on_the_page() -> None:
    schema = campaign_crd()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    page = reference()
    for name in schema["properties"]["spec"]["properties"]:
        assert f"| `{name}`" in page
    assert "### `spec.tasks[].seeds.KEY`" in page
