"""Where things are in the containers of a run pod, and of a grader pod where both have them."""

WORKSPACE, HOME, TMP = "/workspace", "/home/agent", "/tmp"
CONTROL, BIN, SNAPSHOT, RECORD = (
    "/agentbench/control",
    "/agentbench/bin",
    "/agentbench/snapshot",
    "/agentbench/record",
)
START = "/agentbench/start"
PLUGINS = f"{HOME}/.agent-bench/plugins"
DATA, PORT = "/data", "8080"
TOLD = "/agentbench/told"
KEY = "/agentbench/key"
