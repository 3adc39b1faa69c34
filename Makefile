# `make demo` and `make test` set everything up by themselves; both are quick the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-slow fuzz test-editors vscode lint format bench-canvas clean

demo: $(READY)
	$(BIN)/reviser replay examples/paper_trajectories.json --index 5 --play --speed 2

test: $(READY) lint
	$(BIN)/pytest -m "not slow" -n 2

test-slow: $(READY)
	$(BIN)/pytest -m slow

# The tests of properties, on new and mostly more examples at every run: for what the suite's own examples miss.
fuzz: $(READY)
	REVISER_EXAMPLES=new $(BIN)/pytest -m "hypothesis and not slow" -n 2

# Real editors, put into a folder that git ignores. VS Code takes some minutes the first time, 600 MB, and on
# Debian: chromium npm libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev pkg-config fonts-dejavu-core
EDITORS := $(CURDIR)/.editors

test-editors: $(READY) vscode
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[e2e]"
	tests/e2e/vscode/install.sh $(EDITORS)
	REVISER_EDITORS=$(EDITORS) $(BIN)/pytest tests/e2e/vscode tests/e2e/test_neovim.py -m slow

# The extension for VS Code: editors/vscode/dist/reviser.vsix
vscode:
	cd editors/vscode && npm ci --silent && npm run package

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
