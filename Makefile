# make demo: all set-up, then the quickstart campaign. make test: all set-up, then every test.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: help setup lint test test-fast demo cluster-demo lock generate clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY)  ## everything that the other targets need, from an empty machine on

$(READY): requirements/dev.txt requirements/node.txt pyproject.toml scripts/setup.sh scripts/system-packages.sh
	@scripts/setup.sh $(VENV)
	@touch $@

lint: $(READY)  ## ruff, mypy strict, import contracts
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

test-fast: $(READY)  ## the pure tests
	$(PY) -m pytest -q -n 2 -m 'not browser' tests/api tests/core tests/store tests/analysis tests/repository

test: $(READY) lint  ## every test
	@scripts/setup-browser.sh
	$(PY) -m pytest -q

demo: $(READY)  ## the quickstart campaign, run for real
	@scripts/demo.sh

cluster-demo: $(READY)  ## the quickstart on a real Kubernetes of this machine (Linux, root)
	$(PY) -m scripts.cluster_demo

lock: $(READY)  ## pin all dependencies again, with hashes
	$(PY) -m pip install -q uv
	$(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --all-extras --group dev pyproject.toml -o requirements/dev.txt

generate: $(READY)  ## definitions, API reference, schemas, dashboards, tables, from the code
	$(VENV)/bin/agent-bench crd --out crds
	cp crds/*.yaml charts/agent-bench/files/crds/
	$(PY) -m agentbench.api.reference > docs/api.md
	$(PY) -m scripts.analysis_schemas
	$(PY) -m scripts.dashboards
	$(PY) -m scripts.metric_tables

clean:  ## remove the environment and every cache
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis

-include tests/cluster/cluster.mk
