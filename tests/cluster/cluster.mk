# The real Kubernetes that tests run on: see docs/testing-on-kubernetes.md.
.PHONY: cluster cluster-down

cluster: $(READY)  ## a real Kubernetes of three nodes on this machine (Linux, root)
	@$(PY) -m tests.cluster.lab.cli up

cluster-down:  ## remove that cluster without a trace (ALL=1: those of other checkouts too)
	@if [ -x $(PY) ]; then $(PY) -m tests.cluster.lab.cli down $(if $(ALL),--all); \
	else PYTHONPATH=. python3 -m tests.cluster.lab.cli down $(if $(ALL),--all); fi
