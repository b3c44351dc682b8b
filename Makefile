# `make` lists the targets. Needed: Python 3.10 or newer with venv and pip; the rest is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
FUZZ_MUTATIONS ?= 20000

# The pages: Node of this machine where it is new enough, else that of PyPI in .venv.
PAGES := src/laptime/web/static/report/report.js
PAGE_SOURCES := $(shell find ui -name node_modules -prune -o -type f -print)
PACKAGES := ui/node_modules/.package-lock.json
NPM := cd ui && PATH="$(CURDIR)/$(BIN):$$PATH" npm --silent

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-frameworks check types format bench fuzz lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) $(PAGES)  ## install what is locked, and laptime itself, into .venv; build its pages

# uv installs the lock in seconds; pip does the same more slowly where uv cannot be had.
$(STAMP): requirements.lock pyproject.toml hatch_build.py
	@echo "Setting up .venv ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install -qq --disable-pip-version-check uv \
		|| echo "uv is not available; using pip"
	@if test -x $(BIN)/uv; then \
		$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements.lock \
		&& LAPTIME_SKIP_UI=1 $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock \
		&& LAPTIME_SKIP_UI=1 $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
	@touch $@

$(PACKAGES): ui/package-lock.json | $(STAMP)
	@echo "Installing what the pages are built with ..."
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -c 'import hatch_build, sys; sys.exit(not hatch_build.has_node())' \
		|| $(BIN)/python -m pip install -qq --disable-pip-version-check "$$($(BIN)/python -c 'import hatch_build; print(hatch_build.NODE)')"
	@$(NPM) ci --no-audit --no-fund
	@touch $@

$(PAGES): $(PACKAGES) $(PAGE_SOURCES)
	@echo "Building the pages ..."
	@$(NPM) run build

demo: $(STAMP) $(PAGES)  ## show the example recordings in the browser, until Ctrl-C
	@$(BIN)/laptime open examples

# Up to four files of tests run beside each other.
test: $(STAMP) $(PAGES)  ## run the tests, but for those with the frameworks
	@$(NPM) run test
	@$(BIN)/python -m pytest -m 'not frameworks' -n logical --maxprocesses 4 --dist loadfile

test-frameworks: $(STAMP)  ## record with PyTorch, MegEngine, JAX and MindSpore, each in an environment of its own
	@$(BIN)/python -m tests.environments
	@$(BIN)/python -m pytest -m frameworks tests/recorders

check: $(STAMP) $(PACKAGES)  ## lint, format, types and import direction
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy src
	@$(BIN)/lint-imports --no-logo
	@$(NPM) run check
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then $(NPM) run types:check; \
		else echo "Types of the pages are not compared: Python 3.10 describes the interface in other words"; fi

types: $(STAMP) $(PACKAGES)  ## write the types that the pages take from the interface of the server
	@$(NPM) run types

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
	@rm -rf .venv build dist ui/node_modules src/laptime/web/static src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests bench -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
