# `make demo` and `make test` work from a bare Python 3.10+: they make .venv, install, and run.
.DEFAULT_GOAL := help
VENV := .venv
RUN := $(VENV)/bin
PYTEST := $(RUN)/python -m pytest

# The first interpreter that is new enough and can make environments; PYTHON=... overrides it.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.10 python; do \
	if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done)

.PHONY: help demo test check coverage nightly bench peers clean

help:
	@echo "make demo      explain two stories, offline"
	@echo "make test      the fast tests"
	@echo "make check     lint, format, types, who may import whom, the slow tests"
	@echo "make coverage  all tests, and what they leave out"
	@echo "make nightly   random conditions by the hundred thousand, against the definitions of a rule;"
	@echo "               memories of every kind, planted into every application"
	@echo "make bench     what the engine costs, as ratios"
	@echo "make peers     what other methods find on the same conditions, in an environment of its own"
	@echo "make clean     remove what these made"

demo: $(VENV)/.demo
	$(RUN)/rag-rules demo

test: $(VENV)/.test
	$(PYTEST) -n auto -q

check: $(VENV)/.check
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/pyright --project pyproject.toml
	$(RUN)/lint-imports --no-logo
	$(PYTEST) -n auto -q -m slow

coverage: $(VENV)/.test
	$(PYTEST) -n auto -q -m "not benchmark and not nightly" --cov --cov-report=term

nightly: $(VENV)/.test
	$(PYTEST) -q -s -m nightly

peers: $(VENV)-peers/.made
	$(VENV)-peers/bin/python -m pytest -q -m benchmark tests/benchmarks/test_peers*.py

bench: $(VENV)/.test
	$(PYTEST) -q -m benchmark tests/benchmarks

clean:
	rm -rf $(VENV) .venv-* dist .coverage .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# What an installation depends on; a changed pyproject.toml installs anew.
$(VENV)/.demo: $(VENV)/.made pyproject.toml
	$(RUN)/python -m pip install --quiet --editable '.[bm25,langchain]'
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(RUN)/python -m pip install --quiet --editable '.[all]' --group test
	@touch $@

$(VENV)/.check: $(VENV)/.made pyproject.toml
	$(RUN)/python -m pip install --quiet --editable '.[all]' --group check
	@touch $@

$(VENV)-peers/.made: pyproject.toml $(VENV)/.made
	$(RUN)/python -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-peers/bin/python -m pip install --quiet --editable '.[all]' --group test --group peers
	@touch $@

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "no Python 3.10 or newer was found; install one, or say make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@
