# Everything runs in .venv, which is made on first use and again only when the requirements change.
# The documentation, the oldest supported versions, the vector stores and torch have environments of
# their own.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS := .venv-docs
OLDEST := .venv-oldest
BENCH := .venv-bench
STORES := .venv-stores
DEEP := .venv-deep
CLUSTERS := .venv-clusters
BROWSER := .venv-browser
RELEASE := .venv-release
WHEEL := .venv-wheel
# Modules are compiled once, not by each of the processes that tests start.
export PYTHONDONTWRITEBYTECODE :=
WORKERS ?= 2
TEST := -m pytest -q --numprocesses $(WORKERS) --dist worksteal
OF_ALL_MODULES := $(addprefix tests/contract/test_,boundaries.py docs.py docstrings.py)
ABOUT_DEEP := $(addprefix tests/,hashers/test_check_data.py hashers/test_common.py hashers/test_extremes.py hasher_files)
ABOUT_DEEP += $(addprefix tests/,comparison/test_methods.py cli/test_outputs.py model_selection/test_workflow.py)
TEST_DEEP := OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 $(DEEP)/bin/python -m pytest -q -c tests/deep/pytest.ini --rootdir .
SHOW := MPLBACKEND=Agg $(BIN)/python -W "ignore:FigureCanvasAgg"

.PHONY: help test test-processors test-oldest test-stores test-clusters test-deep test-browser test-wheel dist check-platforms lint format examples docs demo bench reproduce fuzz clean

help:
	@echo "make test        install what is needed, run all tests in two processes; WORKERS=8 takes eight"
	@echo "make test-processors the tests of what is learned, with the BLAS kernels of three kinds of processors"
	@echo "make test-oldest the tests with the oldest supported version of every requirement"
	@echo "make test-stores codes in vector stores, and hashers in ONNX and sentence-transformers"
	@echo "make test-clusters recipes for Spark, Ray and dask; Spark needs Java"
	@echo "make test-deep   losses and networks, with torch for the CPU"
	@echo "make test-browser pages and reports in Chromium, and their script by node"
	@echo "make dist        source distribution and wheel, checked, in dist"
	@echo "make test-wheel  the README and the command from the wheel alone"
	@echo "make check-platforms  whether wheels of all requirements exist for each platform"
	@echo "make lint        formatting, lint and type check"
	@echo "make docs        build the documentation, which runs every example"
	@echo "make examples    run the examples that need no torch, without the documentation"
	@echo "make demo        compare hashers on the digits, write a report and a page to open in a browser"
	@echo "make bench       speed and memory against peers, in one run"
	@echo "make reproduce   the papers' experiments: PART=rsh MINUTES=20 DATA=\"--data FILE ...\" runs one, or goes on with it"
	@echo "make fuzz        100,000 corrupted files, commands that are killed, 102,000 searches"
	@echo "make format      let ruff format and fix"
	@echo "make clean       remove everything that was made"

$(VENV)/.ready: group := dev
$(DOCS)/.ready: group := docs
$(BENCH)/.ready: group := bench
$(STORES)/.ready: group := stores
$(DEEP)/.ready: group := deep
$(CLUSTERS)/.ready: group := clusters
$(RELEASE)/.ready: group := release
$(BROWSER)/.ready: group := browser
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

# Kernels that every x86-64 processor of the last ten years can run; another machine ignores them.
test-processors: $(READY)
	$(BIN)/python -m tests.spread --settings Haswell,Sandybridge,Nehalem --seeds 0 --numprocesses $(WORKERS) tests

test-oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/python $(TEST)

test-stores: $(STORES)/.ready
	$(STORES)/bin/python -m pytest -q -c tests/stores/pytest.ini --rootdir . tests/stores sklearn_hashrank/interop

# Not part of .ci/run: Spark and Ray take 730 MB, and half a minute each to start.
test-clusters: $(CLUSTERS)/.ready
	$(CLUSTERS)/bin/python -m pytest -q -c tests/clusters/pytest.ini --rootdir . tests/clusters

test-deep: $(DEEP)/.ready
	$(TEST_DEEP) tests/deep sklearn_hashrank/deep
	$(TEST_DEEP) --noconftest -k "deep or not pages_run" $(OF_ALL_MODULES)
	$(TEST_DEEP) --noconftest -k deep $(ABOUT_DEEP)

# Playwright drives a browser that is installed already; node checks the types of the script.
test-browser: $(BROWSER)/.ready tests/browser/node_modules/.ready
	cd tests/browser && npx tsc --project tsconfig.json
	cd tests/browser && node --test js/*.mjs
	$(BROWSER)/bin/python -m pytest -q -c tests/browser/pytest.ini --rootdir . tests/browser

tests/browser/node_modules/.ready: tests/browser/package.json tests/browser/package-lock.json
	cd tests/browser && npm ci --no-audit --no-fund
	@touch $@

dist: $(RELEASE)/.ready
	rm -rf dist
	$(RELEASE)/bin/python -m build --outdir dist .
	$(RELEASE)/bin/twine check --strict dist/*
	$(RELEASE)/bin/check-wheel-contents dist/*.whl

test-wheel: dist
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	$(WHEEL)/bin/python .ci/wheel.py

check-platforms: $(VENV)/.ready
	$(BIN)/python .ci/platforms.py cli dask faiss onnx scs

docs: $(DOCS)/.ready
	$(DOCS)/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

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

examples: $(READY)
	@for example in examples/*.py; do echo "== $$example"; $(SHOW) $$example || exit 1; done

demo: $(READY)
	$(BIN)/hashrank compare --data digits --bits 12,24,48 --explore --output build/demo

fuzz: $(READY)
	$(BIN)/python -m tests.fuzz $(FUZZ_OPTIONS)

bench: $(BENCH)/.ready
	$(BENCH)/bin/python benchmarks/side_by_side.py --output docs/benchmarks.md $(BENCH_OPTIONS)

reproduce: REPRODUCES := $(if $(filter deep,$(PART)),$(DEEP),$(VENV))
reproduce: $(if $(filter deep,$(PART)),$(DEEP)/.ready,$(READY))
	$(REPRODUCES)/bin/python benchmarks/reproduction.py $(PART) $(DATA) $(if $(MINUTES),--minutes $(MINUTES)) --tables docs/reproduction
	$(REPRODUCES)/bin/python benchmarks/claims.py --output docs/reproduction

clean:
	rm -rf $(VENV) $(DOCS) $(OLDEST) $(BENCH) $(STORES) $(CLUSTERS) $(DEEP) $(BROWSER) tests/browser/node_modules $(RELEASE) $(WHEEL) dist docs/_build docs/auto_examples docs/explored docs/generated build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -exec rm -rf {} +
