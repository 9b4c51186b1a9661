"""Kubernetes: objects as literals, small views over what the cluster says, and the port to it."""
