# `make run` and `make test` do everything, set-up included; both are quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Each stamp says: the environment holds what this lock file asks for.
$(VENV)/run.stamp: requirements/run.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip uninstall --quiet --yes negotiator 2>/dev/null # the distribution's name until November 2026
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/test.stamp: requirements/test.txt $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/test.txt
	@touch $@

$(VENV)/mutate.stamp: requirements/mutate.txt $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/mutate.txt
	@touch $@

$(VENV)/docs.stamp: requirements/docs.txt $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	@touch $@

.PHONY: run
run: $(VENV)/run.stamp ## one negotiation cycle over the example pool
	$(BIN)/negotiator run examples/first-pool

.PHONY: test
test: $(VENV)/test.stamp ## the tests
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

.PHONY: lint
lint: $(VENV)/test.stamp ## ruff, mypy strict and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: house
house: $(VENV)/test.stamp ## files, lines and modules of each room beside their targets
	$(BIN)/python tests/support/house.py

.PHONY: bench
bench: $(VENV)/test.stamp ## speed and memory beside HTCondor's own library, in a few minutes; BENCH="--only matching"
	PYTHONPATH=tests/bench $(BIN)/python -m negotiator_bench $(BENCH)

.PHONY: bench-peer
bench-peer: $(VENV)/test.stamp ## cycles beside the real condor_negotiator, as root; PEER="--slots 1000,5000 --modes match"
	PYTHONPATH=tests/bench:tests/support $(BIN)/python -m negotiator_bench.condor_negotiator $(PEER)

.PHONY: test-peer
test-peer: $(VENV)/test.stamp ## HTCondor's own tests with either daemon, as root; HTCONDOR_SOURCES=/path PEER_TESTS="test_ocu_basic"
	PYTHONPATH=tests/support $(BIN)/python -m peer_suite --sources "$(HTCONDOR_SOURCES)" $(PEER_TESTS)

.PHONY: bench-against
bench-against: $(VENV)/test.stamp ## cycles beside those of another commit; COMMIT=17652a63 AGAINST="--pools mixed,large --rounds 5"
	PYTHONPATH=tests/bench $(BIN)/python -m negotiator_bench.against $(AGAINST) -- $(COMMIT)

.PHONY: bench-curve
bench-curve: $(VENV)/test.stamp ## growth with slots and classes; CURVE="--slots 1000,20000 --picture docs/speed.svg"
	PYTHONPATH=tests/bench $(BIN)/python -m negotiator_bench.curve $(CURVE)

.PHONY: bench-large
bench-large: $(VENV)/test.stamp ## a cycle over 100,000 slots and 1,000,000 job ads; LARGE="--jobs 100000 --classes 1000"
	PYTHONPATH=tests/bench $(BIN)/python -m negotiator_bench.large $(LARGE)

.PHONY: bench-service
bench-service: $(VENV)/test.stamp ## cycles while 200 others read pages, and pages of 2,000 queues; SERVICE="--rounds 1"
	PYTHONPATH=tests/bench $(BIN)/python -m negotiator_bench.service $(SERVICE)

.PHONY: pictures
pictures: $(VENV)/test.stamp ## the picture of the README, from what its commands print now
	PYTHONPATH=tests/support $(BIN)/python -m terminal_picture

.PHONY: mutate
mutate: $(VENV)/mutate.stamp ## changes of one token that no test notices; MUTATE="--room ledger --sample 40 --seed 7"
	PYTHONPATH=tests/mutation $(BIN)/python -m negotiator_mutation $(MUTATE)

SPHINX = $(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --fresh-env --quiet --conf-dir docs --doctree-dir build/doctrees

.PHONY: docs
docs: $(VENV)/docs.stamp ## the documentation as a site, in build/docs; a warning or a broken link inside it is an error
	$(SPHINX) . build/docs

.PHONY: docs-links
docs-links: $(VENV)/docs.stamp ## look up the links of the documentation to other sites
	$(SPHINX) --builder linkcheck . build/links

.PHONY: docs-reference
docs-reference: $(VENV)/test.stamp ## renew the generated reference pages, and the output of commands that tutorials show
	PYTHONPATH=docs/tools $(BIN)/python -m negotiator_docs

# The time of all files in the distributions: two builds of one commit have the same bytes.
share dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1580601600)

.PHONY: share
share: $(VENV)/test.stamp ## man pages and completions of shells, in release/share
	$(BIN)/python release/shared_files.py

.PHONY: dist
dist: share ## wheel, sdist, SBOM and checksums in dist/; the man pages and completions are part of the first two
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/cyclonedx-py requirements requirements/run.txt --pyproject pyproject.toml --mc-type application \
		--output-reproducible --of JSON -o dist/pool-negotiator.cdx.json
	cd dist && sha256sum * > SHA256SUMS

.PHONY: lock
lock: $(VENV)/test.stamp ## make the pinned, hashed lock files anew
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes pyproject.toml requirements/run.in -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes -c requirements/run.txt pyproject.toml requirements/run.in requirements/test.in -o requirements/test.txt
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes -c requirements/test.txt requirements/mutate.in -o requirements/mutate.txt
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes -c requirements/test.txt requirements/docs.in -o requirements/docs.txt

.PHONY: clean
clean: ## remove the environment and the caches
	rm -rf $(VENV) build dist release/share .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
