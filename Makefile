# Every target sets up .venv by itself, once, and again when pyproject.toml changes.
#
#   make dev      sets up .venv, which the other targets do by themselves
#   make demo     a short tour in the terminal, on the sample graph
#   make test     the project's own tests, without Torch    ARGS="tests/api -k limits" for a part of them
#   make check    ruff, mypy --strict, import rules, lengths of files and functions
#   make format   what ruff can repair and lay out by itself
#   make tck      the openCypher TCK            TCK=DIR    default $(HOPLITE_DATA)/tck
#   make golden   recorded answers of Neo4j     ARGS="--family temporal --show 5" for a part of them
#   make repair-test  queries of models checked and repaired   ARGS="--every 8" for a part of them
#   make corpus   machine-written queries       LIMIT=200  queries of each graph; unset: all of them
#   make bench    compared with other engines, half an hour  ARGS=--quick for 5 minutes; NEO4J_URI for a live Neo4j too
#   make bench-large  graphs larger than memory: 87 million relationships  ARGS=--quick for a fiftieth, ARGS=--billion
#   make neo4j-test  compared with a live Neo4j (Java 17, Maven; or NEO4J_URI)   LIMIT=20 queries of each demo graph; unset: all
#   make fidelity    k-hop answers compared with Neo4j, NetworkX, igraph, GraphBLAS     ARGS="--graph hetionet --queries 5"
#   make fuzz     damaged queries, COUNT=20000
#   make folds    random write programs on graphs held in different ways, COUNT=20000   ARGS="--seed 2000"
#   make joins    random joins against the plain matcher, COUNT=20000   ARGS="--seed 2000"
#   make fuzz-calls  every function and procedure with odd arguments  ARGS="--calls 500 --only apoc.text"
#   make hostile  statements that try to use up time and memory, each under its own limits  ARGS="--only plus"
#   make round-trips  the demo graphs and Hetionet through disk and every form, and back   ARGS="movies pole"
#   make crash    a writer is killed 1,000 times, every step of the file system fails  ARGS="--kills 100"
#   make other-ways  recorded queries as plans in JSON, and under PROFILE    ARGS="--patterns 300 --queries 60"
#   make plans    rewrites the plans expected in tests/plans; review the diff
#   make libraries-test   neo4j-graphrag, LangChain, LlamaIndex and mcp-neo4j-cypher on a Hoplite driver, in their own environment
#   make docs             the documentation as a site in build/site, its links and references checked
#   make torch-test       the Torch backend on the CPU, in its own environment (its wheel is 5 GB)
#   make drivers-test     drivers of other languages and cypher-shell against hoplite serve   ARGS="--only go --rows 1000"
#   make fuzz-bolt        damaged messages to a server, COUNT=100000
#   make side-by-side     64 connections for two minutes, nothing torn    ARGS="--connections 16 --seconds 10"
#   make cluster-test     statements over workers on Ray, in its own environment; ARGS="-k ray"
#   make packages         wheel, sdist and a clone without symbolic links, each in separate environments
#                         EXTRAS= measures an install with every extra, not only with two
#   make console          builds the browser's page: console/ into hoplite/server/console  (Node 20, npm)
#   make console-check    types and unit tests of its source, and that the built files match it
#   make console-test     the page in a real Chromium, in its own environment    CHROMIUM=/path/to/chromium
#   make driver-test      the driver's API with another version of the driver    DRIVER=5.28
#   make clean            removes .venv and everything that was built

.PHONY: help dev demo test check format tck golden corpus repair-test bench bench-large neo4j-test fidelity fuzz fuzz-calls folds joins hostile plans other-ways libraries-test docs torch-test cluster-test driver-test console console-check console-test round-trips crash packages drivers-test fuzz-bolt side-by-side clean
.DEFAULT_GOAL := help

HOPLITE_DATA ?= ../shared
TCK ?= $(HOPLITE_DATA)/tck
LIMIT ?=
ARGS ?=
export HOPLITE_DATA

BIN := .venv/bin
STAMP := .venv/.hoplite-dev
RUN := $(BIN)/python -X faulthandler

help:
	@sed -n 's/^#   //p' Makefile

dev: $(STAMP)

# The stamp is written last, so an interrupted set-up starts again.
$(STAMP): pyproject.toml .ci/setup
	@.ci/setup .venv
	@touch $@

demo: $(STAMP)
	@$(BIN)/hoplite demo

test: $(STAMP)
	@echo "The project's own tests, without Torch, whose backend is tested by make torch-test."
	$(BIN)/pytest -n 2 -q -m 'not neo4j' $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --strict examples/*.py benchmarks/*.py pytest_hoplite.py
	$(BIN)/mypy $(foreach name,datasets diagnosis evidence_qa figures kg_rag super_relations,-p examples.$(name))
	$(BIN)/lint-imports
	$(BIN)/python -m tests.sizes

format: $(STAMP)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

tck: $(STAMP)
	$(RUN) -m tests.tck.run "$(TCK)" $(ARGS)

golden: $(STAMP)
	$(RUN) -m tests.golden.imports
	$(RUN) -m tests.golden.run --suite cases --suite patterns $(ARGS)

repair-test: $(STAMP)
	$(RUN) -m tests.models.run $(ARGS)

corpus: $(STAMP)
	$(RUN) -m tests.golden.run --suite llm $(if $(LIMIT),--limit $(LIMIT)) $(ARGS)

bench: .venv/bench/.installed
	.venv/bench/bin/python -u -X faulthandler -m benchmarks.run $(ARGS)
	$(if $(ARGS),,.venv/bench/bin/python -u -X faulthandler -m benchmarks.counts --docs)

# The engines that Hoplite is compared with have their own environment; one that does not install is left out,
# and the run says so.
.venv/bench/.installed: $(STAMP)
	@.ci/setup .venv/bench
	@.venv/bench/bin/python -m benchmarks.install
	@touch $@

neo4j-test: $(STAMP)
	$(RUN) -m tests.neo4j.everything $(if $(LIMIT),--limit $(LIMIT)) $(ARGS)

bench-large: $(STAMP)
	$(RUN) -m benchmarks.large $(ARGS)

fidelity: .venv/bench/.installed
	.venv/bench/bin/python -X faulthandler -m tests.neo4j.fidelity $(ARGS)

folds: $(STAMP)
	$(RUN) -m tests.folds.run --count $(or $(COUNT),20000) $(ARGS)

joins: $(STAMP)
	$(RUN) -m tests.joins.run --count $(or $(COUNT),20000) $(ARGS)

fuzz: $(STAMP)
	$(RUN) -m tests.fuzz.run --count $(or $(COUNT),20000) $(ARGS)

hostile: $(STAMP)
	$(RUN) -m tests.hostile.run $(ARGS)

fuzz-calls: $(STAMP)
	$(RUN) -m tests.fuzz.calls $(ARGS)

drivers-test: $(STAMP)
	$(RUN) -m tests.server.drivers.run $(ARGS)

fuzz-bolt: $(STAMP)
	$(RUN) -m tests.server.fuzz --count $(or $(COUNT),100000) $(ARGS)

side-by-side: $(STAMP)
	$(RUN) -m tests.server.side_by_side $(ARGS)

plans: $(STAMP)
	$(RUN) -m tests.plans.rewrite

other-ways: $(STAMP)
	$(RUN) -m tests.plans.run_recorded $(ARGS)

libraries-test: .venv/libraries/.installed
	HOPLITE_LIBRARIES=required .venv/libraries/bin/pytest -q tests/driver/test_libraries.py $(ARGS)

.venv/libraries/.installed: $(STAMP)
	@.ci/setup .venv/libraries
	.venv/libraries/bin/python -m pip --disable-pip-version-check --quiet install --group libraries
	@touch $@

docs: .venv/docs/.installed
	.venv/docs/bin/python -m mkdocs --quiet build --strict $(ARGS)
	.venv/docs/bin/python -m tests.docs.site build/site

# The site's tools have their own environment; the API is read from the sources, without importing them.
.venv/docs/.installed: $(STAMP)
	@.ci/setup .venv/docs
	.venv/docs/bin/python -m pip --disable-pip-version-check --quiet install --group docs
	@touch $@

torch-test: .venv/torch/.installed
	.venv/torch/bin/pytest -n 2 -q tests/hops tests/patterns tests/retrieval tests/api/test_backends.py -k 'torch or device' $(ARGS)

.venv/torch/.installed: $(STAMP)
	@.ci/setup .venv/torch
	.venv/torch/bin/python -m pip --disable-pip-version-check --quiet install --editable '.[torch]'
	@touch $@

console: console/node_modules/.installed
	cd console && node build.mjs

console-check: console/node_modules/.installed
	cd console && npm run --silent check && npm run --silent test && node build.mjs --check

console/node_modules/.installed: console/package-lock.json
	cd console && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

console-test: .venv/console/.installed
	HOPLITE_CONSOLE=required .venv/console/bin/pytest -q tests/console $(ARGS)

.venv/console/.installed: $(STAMP)
	@.ci/setup .venv/console
	.venv/console/bin/python -m pip --disable-pip-version-check --quiet install --group console
	@touch $@

cluster-test: .venv/cluster/.installed
	HOPLITE_RAY=required .venv/cluster/bin/pytest -q tests/cluster $(ARGS)

.venv/cluster/.installed: $(STAMP)
	@.ci/setup .venv/cluster
	.venv/cluster/bin/python -m pip --disable-pip-version-check --quiet install --editable '.[ray]'
	@touch $@

DRIVER ?= 5.28
driver-test: .venv/driver-$(DRIVER)/.installed
	.venv/driver-$(DRIVER)/bin/pytest -q tests/driver $(ARGS)

.venv/driver-$(DRIVER)/.installed: $(STAMP)
	@.ci/setup .venv/driver-$(DRIVER)
	.venv/driver-$(DRIVER)/bin/python -m pip --disable-pip-version-check --quiet install 'neo4j==$(DRIVER).*'
	@touch $@

round-trips: $(STAMP)
	$(RUN) -m tests.transfers.every_graph $(ARGS)

crash: $(STAMP)
	$(RUN) -m tests.disk.run_crash $(ARGS)
	HOPLITE_EVERY_STEP=1 $(BIN)/pytest -n 2 -q tests/disk/test_faults.py

packages: $(STAMP)
	.ci/packages $(BIN)/python

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
