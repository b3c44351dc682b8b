# `make` lists the targets. Needed: Python 3.10 or newer with venv and pip; the rest is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
FUZZ_MUTATIONS ?= 20000

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-frameworks check format bench fuzz lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## install what is locked, and laptime itself, into .venv

# uv installs the lock in seconds; pip does the same more slowly where uv cannot be had.
$(STAMP): requirements.lock pyproject.toml
	@echo "Setting up .venv ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install -qq --disable-pip-version-check uv \
		|| echo "uv is not available; using pip"
	@if test -x $(BIN)/uv; then \
		$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements.lock \
		&& $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock \
		&& $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
	@touch $@

demo: $(STAMP)  ## explain an example recording
	@$(BIN)/laptime report examples/ddp4-gloo

test: $(STAMP)  ## run the tests, but for those with the frameworks
	@$(BIN)/python -m pytest -m 'not frameworks'

test-frameworks: $(STAMP)  ## record with PyTorch, MegEngine, JAX and MindSpore, each in an environment of its own
	@$(BIN)/python -m tests.environments
	@$(BIN)/python -m pytest -m frameworks tests/recorders

check: $(STAMP)  ## lint, format, types and import direction
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy src
	@$(BIN)/lint-imports --no-logo

format: $(STAMP)  ## format the code and mend what ruff can mend
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .

bench: $(STAMP)  ## compare with peers, side by side
	@$(BIN)/python bench/run.py

fuzz: $(STAMP)  ## feed many mutated files and folders to the importers
	@LAPTIME_FUZZ_MUTATIONS=$(FUZZ_MUTATIONS) $(BIN)/python -m pytest -m fuzz

# Needs no lock: it is how the first one is made.
lock:  ## resolve the dependencies anew into requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install -qq --disable-pip-version-check uv
	@$(BIN)/uv pip compile pyproject.toml --quiet --all-extras --group dev --universal --python-version 3.10 \
		--generate-hashes --no-emit-index-url --custom-compile-command 'make lock' -o requirements.lock

clean:  ## remove .venv and everything generated
	@rm -rf .venv build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests bench -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
