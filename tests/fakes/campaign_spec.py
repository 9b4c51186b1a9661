"""The spec of a made-up campaign, as people write it."""

from typing import Any

CAMPAIGN = "ab-proto-1"
DIGEST = "sha256:" + "5e" * 32

TASKS = (
    ("AB-T01", "Scaffold the app and deploy it to the benchmark container host."),
    ("AB-T02", "Tenant-scoped notes: create, read, update, delete, a migration and a list page."),
    ("AB-T03", "Durable background job with retry and an hourly schedule."),
    ("AB-T04", "Subscription webhook changes entitlement state."),
    ("AB-T05", "AI tool with approval and quota."),
    ("AB-T06", "Upgrade a dependency from a seeded older version."),
)
STACKS = (("AB-S1", "Arki"), ("AB-S2", "T3"), ("AB-S3", "Laravel"))
AGENTS = (
    ("AB-A1", "Claude Code", "claude-sonnet-5-5", "verified", "The id that the API returns."),
    ("AB-A2", "Codex CLI", "gpt-6.1-sol", "unverified", "Read from a local configuration."),
)
RATES = {"AB-S1": 0.82, "AB-S2": 0.78, "AB-S3": 0.71}
HARDNESS = dict(zip((task for task, _ in TASKS), (0.12, 0.1, -0.1, 0.02, -0.22, 0.05), strict=True))
COSTS = {"AB-S1": 1.05, "AB-S2": 1.55, "AB-S3": 1.45}


def campaign_spec(repeats: int = 5) -> dict[str, Any]:
    """The campaign's spec as people write it."""
    return {
        "protocol": {
            "id": "AB-PROTO-1",
            "title": "Agent benchmark",
            "freeze": {
                "digest": DIGEST,
                "commit": "4f1c2d9",
                "frozenAt": "2026-10-19T09:30:00Z",
            },
            "amendments": [
                {
                    "seq": 1,
                    "date": "2026-10-24",
                    "change": "The margin of the cost ratio is stated as 0.90 for later campaigns.",
                    "why": "A rehearsal showed that the price list rounds half cents.",
                    "anyRunStarted": True,
                    "effects": "set analysis.margins.cost = 0.90",
                }
            ],
            "openItems": [{"id": "O1", "text": "Confirm gpt-6.1-sol on the vendor's own page."}],
        },
        "tasks": [
            {"id": ident, "name": name, "check": {"path": f"checks/t{place:02d}.sh"}}
            for place, (ident, name) in enumerate(TASKS, 1)
        ],
        "stacks": [
            {
                "id": ident,
                "name": name,
                "version": "pinned in locks/",
                "contextFiles": ["AGENTS.md"],
            }
            for ident, name in STACKS
        ],
        "agents": [
            {
                "id": ident,
                "name": name,
                "model": model,
                "verification": {"status": status, "text": text},
            }
            for ident, name, model, status, text in AGENTS
        ],
        "repeats": repeats,
        "order": {"seed": 1760860200},
        "caps": {"wall": "45m", "costUSD": "5", "toolCalls": 400, "interventions": 3},
        "budget": {"totalUSD": str(180 * repeats)},
        "calibration": {"repeats": 1},
        "checks": {"repeats": 3, "security": {"path": "checks/security.sh"}},
        "analysis": {"referenceStack": "AB-S1", "seed": 7, "resamples": 2000},
    }
