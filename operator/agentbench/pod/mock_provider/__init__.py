"""A scripted model server: Anthropic Messages, OpenAI Responses and Chat Completions.

It answers by a script, the same way every time, faults included, and remembers the calls it got.
Agents are tried against it without a key, and stacks use it as the model that their app calls.
"""

from agentbench.pod.mock_provider.script import Script, ScriptError, read_script
from agentbench.pod.mock_provider.server import MockProvider

__all__ = ["MockProvider", "Script", "ScriptError", "read_script"]
