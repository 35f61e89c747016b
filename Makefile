# Everything a contributor runs. The virtual environment is made once, and again when pyproject.toml changes.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEBIAN := lldpd openssh-server iproute2 ethtool ibsim-utils infiniband-diags

.PHONY: help demo test test-system lint docs bench wheel clean

help: ## print this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -e '.[dev]'
	touch $@

demo: $(READY) ## serve a faulty pod over SSH on loopback and check it
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash .ci/demo

test: $(READY) ## all tests that need only Python and the package index
	$(BIN)/python -m pytest -n auto tests --ignore=tests/system

test-system: $(READY) ## tests that need root and Debian packages (installed here when root)
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! dpkg -s $(DEBIAN) >/dev/null 2>&1; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends $(DEBIAN) >/dev/null || \
		echo "not all of $(DEBIAN) could be installed: tests that need them are skipped"; \
	fi
	$(BIN)/python -m pytest -n 2 --dist loadfile -rs tests/system

lint: $(READY) ## style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY) ## build the documentation into site/
	$(BIN)/mkdocs build --strict --quiet

bench: $(READY) ## cost per device of collect, parse, evaluate and store, and the ratios that are promised
	$(BIN)/python -m bench

wheel: $(READY) ## build the wheel into dist/
	$(BIN)/pip wheel -q --no-deps -w dist .

clean: ## remove what the other targets made
	rm -rf $(VENV) site dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
