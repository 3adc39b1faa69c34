# `make demo` and `make test` set everything up by themselves; both are quick the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-slow lint format bench-canvas clean

demo: $(READY)
	$(BIN)/reviser replay examples/paper_trajectories.json --index 5 --play --speed 2

test: $(READY) lint
	$(BIN)/pytest -m "not slow" -n 2

test-slow: $(READY)
	$(BIN)/pytest -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench-canvas: $(READY)
	$(BIN)/python -m benchmarks.canvas --write docs/results/canvas-cost.md

# torch comes first and pinned: a range would let pip choose a build with gigabytes of CUDA.
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
