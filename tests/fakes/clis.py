"""The real agent CLIs, installed at their pinned versions."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "scripts" / "agent-clis.sh"
CLAUDE_FOLDER = "@anthropic-ai/claude-code-linux-x64"
CODEX_FOLDER = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl"
CLAUDE = f"/agents/{CLAUDE_FOLDER}/claude"
CODEX = f"/agents/{CODEX_FOLDER}/bin/codex"
OPENCODE = "/agents/opencode-linux-x64/bin/opencode"


def install() -> Path:
    """Install them, unless that was done before; gives the folder that is seen at /agents."""
    done = subprocess.run([INSTALL], check=True, stdout=subprocess.PIPE, text=True, timeout=900)
    return Path(done.stdout.strip()) / "node_modules"
