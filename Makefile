# Three environments, each made on first use and again only when the requirements change:
# .venv for the package without torch, .venv-all with everything that tests, pages and benchmarks use,
# .venv-oldest with the oldest supported versions.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready
ALL := .venv-all
OLDEST := .venv-oldest
WHEEL := build/wheel
# Modules are compiled once, not by each of the processes that tests start.
export PYTHONDONTWRITEBYTECODE :=
WORKERS ?= 2
TEST := -m pytest -q --numprocesses $(WORKERS) --dist worksteal
NODE := $(if $(shell command -v npm),tests/browser/node_modules/.ready)

.PHONY: help test test-all test-oldest test-processors lint format docs demo bench reproduce fuzz dist clean

help:
	@echo "make test        all tests that need no torch, in two processes; WORKERS=8 takes eight"
	@echo "make test-all    all tests: with torch, vector stores, Spark and Ray; pages where there is a browser"
	@echo "make test-oldest the tests with the oldest supported version of every requirement"
	@echo "make test-processors the tests of what is learned, with the BLAS kernels of three kinds of processors"
	@echo "make lint        formatting, lint and type check"
	@echo "make format      let ruff format and fix"
	@echo "make docs        build the documentation, which runs every example"
	@echo "make demo        compare hashers on the digits, write a report and a page to open in a browser"
	@echo "make bench       speed and memory against peers, in one run"
	@echo "make reproduce   the papers' experiments: PART=rsh MINUTES=20 DATA=\"--data FILE ...\" runs one, or goes on with it"
	@echo "make fuzz        100,000 corrupted files, commands that are killed or write over inputs, 102,000 searches, 10,000 sums of shards"
	@echo "make dist        source distribution and wheel in dist, checked; the README from the wheel alone"
	@echo "make clean       remove everything that was made"

$(READY): group := dev
$(ALL)/.ready: group := all
$(OLDEST)/.ready: group := test
$(OLDEST)/.ready: constraints = --constraint $(OLDEST)/oldest.txt

# Pip knows groups of requirements from 25.1 on.
%/.ready: pyproject.toml setup.cfg setup.py Makefile
	$(PYTHON) -m venv $*
	$(PYTHON) .ci/oldest.py > $*/oldest.txt
	$*/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$*/bin/python -m pip install --quiet --disable-pip-version-check $(constraints) --editable . --group $(group)
	@touch $@

test: $(READY)
	$(BIN)/python $(TEST)

# Node checks the types of the pages' script, and Playwright drives a browser that is installed already.
test-all: $(ALL)/.ready $(NODE)
	$(if $(NODE),cd tests/browser && npx tsc --project tsconfig.json && node --test js/*.mjs)
	$(ALL)/bin/python $(TEST)

tests/browser/node_modules/.ready: tests/browser/package.json tests/browser/package-lock.json
	cd tests/browser && npm ci --no-audit --no-fund
	@touch $@

test-oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/python $(TEST)

# Kernels that every x86-64 processor of the last ten years can run; another machine ignores them.
test-processors: $(READY)
	$(BIN)/python -m tests.spread --settings Haswell,Sandybridge,Nehalem --seeds 0 --numprocesses $(WORKERS) tests

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports=silent tests/contract/user_code.py
	$(BIN)/repo-review --show err .
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/check-jsonschema --builtin-schema github-workflows .github/workflows/*.yml

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(ALL)/.ready
	$(ALL)/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

demo: $(READY)
	$(BIN)/hashrank compare --data digits --bits 12,24,48 --explore --output build/demo

bench: $(ALL)/.ready
	$(ALL)/bin/python -m benchmarks.speed.side_by_side --output docs/notes/benchmarks.md $(BENCH_OPTIONS)

reproduce: PLACE := $(if $(filter deep,$(PART)),$(ALL),.venv)
reproduce: $(if $(filter deep,$(PART)),$(ALL)/.ready,$(READY))
	$(PLACE)/bin/python -m benchmarks.papers.reproduction $(PART) $(DATA) $(if $(MINUTES),--minutes $(MINUTES)) --tables docs/notes/reproduction
	$(PLACE)/bin/python -m benchmarks.papers.claims --output docs/notes/reproduction

fuzz: $(READY)
	$(BIN)/python -m tests.fuzz $(FUZZ_OPTIONS)

dist: $(READY)
	rm -rf dist $(WHEEL)
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	$(WHEEL)/bin/python .ci/wheel.py

clean:
	rm -rf .venv $(ALL) $(OLDEST) tests/browser/node_modules dist docs/_build docs/auto_examples docs/explored docs/reference/api docs/reference/generated build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -exec rm -rf {} +
