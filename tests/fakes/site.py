"""A site of a made-up campaign, one run of it with a trace made to do harm."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tests.fakes.campaign_rows import FakeCampaign, fake_campaign

from agentbench_analysis.facade import analyse
from agentbench_analysis.results.model import Results
from agentbench_analysis.site.build import SiteOptions, build_site
from agentbench_analysis.site.content import Benchmarks, LibraryBenchmark, ProtocolPage
from agentbench_analysis.site.protocol import protocol_page

HOSTILE = "AB-T02-S2-A1-r1"
HARM = (
    "<script>document.title='owned'</script>",
    "</script><img src=x onerror=\"document.title='owned'\">",
    "<svg onload=\"document.title='owned'\"><iframe src='https://example.com/'></iframe>",
    "</pre></li></ol><style>*{display:none}</style><base href='https://example.com/'>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u2066 \x00\x07\x1b[31mred\x1b[0m",
    "javascript:document.title='owned'",
)
TEXT = """# Agent benchmark

The rules, with [a page](https://example.com/rules), [a trap](javascript:alert(1)) and
<script>document.title = 'owned'</script>.

| Id | Condition |
|---|---|
| AB-C1 | Success is no worse. |
"""


@dataclass(frozen=True, slots=True)
class FakeSite:
    """A campaign, its results and the site's content."""

    campaign: FakeCampaign
    results: Results
    protocol: ProtocolPage

    def files(self, options: SiteOptions | None = None) -> Iterable[tuple[str, bytes]]:
        """The site's files."""
        options = options or SiteOptions(synthetic="These runs were made up.")
        return build_site(self.protocol, self.results, self.campaign.open, options)


def fake_site(repeats: int = 2) -> FakeSite:
    """Build it; `HOSTILE` is the run that does harm wherever an agent can write."""
    campaign = fake_campaign(repeats)
    key = f"ab-proto-1/rows/{HOSTILE}/1.json"
    row = json.loads(campaign.rows[key])
    harm = " ".join(HARM)
    replace(campaign, row, "trajectory.json", hostile_trace())
    replace(
        campaign, row, "final.diff", f"diff --git a/x b/{harm}\n@@ -1 +1 @@\n+{harm}\n".encode()
    )
    row["checks"] = [
        {
            "repeat": 1,
            "verdict": "fail",
            "exitCode": 1,
            "seconds": 1.5,
            "asserts": [{"id": harm, "ok": False, "detail": harm}],
        }
    ]
    row |= {"outcome": "fail", "cause": "task", "reasons": ["CheckFailed"], "notes": [harm]}
    row["evidence"] = row["deniedEgress"] = [harm]
    row["security"]["flags"] = [{"kind": "sql-injection", "assertion": harm, "detail": harm}]
    row["versions"] = {harm: harm}
    campaign.rows[key] = json.dumps(row).encode()
    campaign.adjudications.pop(f"ab-proto-1/adjudications/{HOSTILE}/1.json", None)
    results = analyse(campaign.spec, campaign.rows.items(), campaign.adjudications.items())
    packages = (
        LibraryBenchmark(package="@arki/ai"),
        LibraryBenchmark(package="@arki/db", link="https://example.com/db"),
    )
    protocol = protocol_page(
        campaign.source,
        campaign.spec,
        text=TEXT,
        prompts={"AB-T02": f"Add notes. {harm}"},
        benchmarks=Benchmarks(packages=packages),
    )
    return FakeSite(campaign, results, protocol)


def replace(campaign: FakeCampaign, row: dict[str, Any], name: str, data: bytes) -> None:
    """Store other bytes under an artifact of a row."""
    entry = row["artifacts"][name]
    campaign.artifacts[entry["key"]] = data
    entry |= {"sha256": "sha256:" + sha256(data).hexdigest(), "size": len(data)}


def hostile_trace() -> bytes:
    """A trace that tries to break out of the page, ends in the middle, and is not UTF-8."""
    steps = [
        {
            "step_id": place,
            "source": text,
            "message": text,
            "model_name": text,
            "timestamp": text,
            "reasoning_content": text,
            "tool_calls": [
                {
                    "tool_call_id": text,
                    "function_name": text,
                    "arguments": {text: text, "b": [text]},
                }
            ],
            "observation": {"results": [{"source_call_id": text, "content": text}]},
            "metrics": {"prompt_tokens": text, "completion_tokens": -1, "cost_usd": True},
        }
        for place, text in enumerate(HARM, 1)
    ]
    whole = json.dumps({"schema_version": HARM[0], "agent": {"name": HARM[1]}, "steps": steps})
    return whole[:-2].encode() + b', {"message": "\xff\xfe\xc3('
