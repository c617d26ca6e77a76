# Everything runs in .venv, which is made on first use and again only when the requirements change.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help test lint format examples demo bench clean

help:
	@echo "make test     install what is needed, run all tests"
	@echo "make lint     formatting, lint and type check"
	@echo "make examples run every example"
	@echo "make demo     hash the digits, print tie-aware scores and their bounds"
	@echo "make bench    speed and memory against peers, in one run"
	@echo "make format   let ruff format and fix"
	@echo "make clean    remove everything that was made"

$(READY): setup.cfg pyproject.toml Makefile
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,dev,plot]"
	@touch $@

test: $(READY)
	$(BIN)/python -m pytest -q

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

examples: $(READY)
	@for example in examples/*.py; do \
		echo "== $$example"; MPLBACKEND=Agg $(BIN)/python -W "ignore:FigureCanvasAgg" $$example || exit 1; \
	done

demo: $(READY)
	$(BIN)/python examples/plot_digits.py

bench: $(READY)
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/neighbors.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/training_step.py

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -exec rm -rf {} +
