"""What a warden is told comes from the protocol alone; the place adds where things are."""

import json
from typing import Any

import pytest
from tests.fakes.build import a_campaign

from agentbench.agents.brief import (
    NO_PRICES,
    BriefError,
    Whereabouts,
    brief,
    mock_script,
    usual_address,
)
from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Provider
from agentbench.core.plan import plan
from agentbench.pod.warden.config import WardenConfig

FILES = {
    ("protocol", "tasks/t01.md"): "Make it work.\n",
    ("protocol", "locks/prices.json"): "the price list",
    ("scripts", "steps.yaml"): "- shell: 'true'\n- say: done\n",
    ("scripts", "steps.json"): json.dumps({"steps": [{"say": "done"}]}),
    ("scripts", "broken.yaml"): "steps: [",
    ("scripts", "model.yaml"): "turns: [{text: hi}]",
}
PLACE = Whereabouts(
    agent={"workspace": "/workspace", "home": "/home/agent"},
    upstreams={"anthropic": {"url": "http://mock", "socket": "/s"}},
    listen={"host": "127.0.0.1"},
    control="folder:/control",
    output="/record",
    solution="/solution",
)


def read(layer: str, path: str) -> str:
    return FILES[layer, path]


def told(**agent: Any) -> dict[str, Any]:
    base = a_campaign(tasks=1, stacks=1, agents=1, repeats=1)
    document = base.model_dump(mode="json", by_alias=True)
    document["agents"] = [{"id": "QS-A1", "name": "Agent", "adapter": "nop", **agent}]
    spec = CampaignSpec.model_validate(document)
    return brief(spec, plan(spec)[0], 2, read, PLACE)


def test_a_warden_takes_it() -> None:
    config = WardenConfig.model_validate(told())
    assert (config.run, config.attempt, config.prompt) == (
        "QS-T01-S1-A1-r1",
        2,
        "Make it work.\n",
    )
    assert config.upstreams.anthropic is not None
    assert config.upstreams.anthropic.socket == "/s"


@pytest.mark.parametrize(
    ("path", "steps"),
    [("steps.yaml", [{"shell": "true"}, {"say": "done"}]), ("steps.json", [{"say": "done"}])],
)
def test_a_script_is_yaml_or_json_a_list_or_under_steps(path: str, steps: list[Any]) -> None:
    found = told(adapter="scripted", script={"path": path})
    assert found["agent"]["settings"] == {"steps": steps}


def test_a_script_of_the_cell_comes_before_the_one_of_all() -> None:
    found = told(
        adapter="scripted",
        script={"path": "steps.yaml"},
        scripts={"QS-T01/QS-S1": {"path": "steps.json"}},
    )
    assert found["agent"]["settings"]["steps"] == [{"say": "done"}]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ({"adapter": "scripted"}, "no script for QS-T01/QS-S1: add one"),
        ({"adapter": "scripted", "script": {"path": "broken.yaml"}}, "broken.yaml: neither YAML"),
    ],
)
def test_a_script_that_is_none_is_named(agent: dict[str, Any], words: str) -> None:
    with pytest.raises(BriefError, match=words):
        told(**agent)


def test_the_oracle_is_told_where_the_solution_lies_and_nobody_else() -> None:
    assert told(adapter="oracle")["agent"]["settings"] == {"solution": "/solution"}
    assert told(adapter="nop")["agent"]["settings"] == {}


def test_an_agent_without_a_model_needs_no_price_list() -> None:
    assert told()["prices"] == NO_PRICES
    with_model = told(provider={"api": "anthropic", "keySecret": "key"})
    assert with_model["prices"] == "the price list"


def test_a_mock_is_read_from_the_scripts() -> None:
    spec = a_campaign(agents=1).agents[0]
    assert mock_script(spec, read) is None
    provider = Provider.model_validate({"api": "openai", "mock": {"path": "model.yaml"}})
    mocked = spec.model_copy(update={"provider": provider})
    assert mock_script(mocked, read) == ("model.yaml", "turns: [{text: hi}]")


def test_a_provider_answers_at_its_own_address_or_its_vendors() -> None:
    own = Provider.model_validate({"api": "openai", "baseUrl": "https://x.test/v2/"})
    assert usual_address(own) == "https://x.test/v2"
    assert usual_address(Provider(api="anthropic")) == "https://api.anthropic.com"
