"""The operator: kopf, thin; one tick is list, decide, act, one status write."""
