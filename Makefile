# make demo        run the demonstration
# make test        lint, types and all tests
# make lint        lint and types only
# make proof       longer proofs, with pages: do tests notice wrong formulas? iterations in the literature, every method
#                  on every model, a million steps
# make benchmarks  time the toolkit on this machine
# make docs        the documentation site, from which everything can be read offline: build/site/html/index.html
# make wheel       a wheel for all machines, and one with compiled code for processors of level x86-64-v3
# make package     archive of sources and wheels, checked, and tried in clean environments
# make lowest      the tests with the lowest versions of everything that pyproject.toml allows
# make clean       remove the virtual environment and caches
#
# Each of them needs Python 3.11 or later and nothing else: the virtual environment .venv is made on first use and
# brought up to date when pyproject.toml changes. Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
PYTEST_ARGUMENTS ?= -n 2
# run once more with numba's public interface alone
PUBLIC_COMPILER_TESTS := tests/compiled/test_records_and_entries.py tests/math tests/system tests/linalg/test_solver.py

# run once more with the lowest versions of all packages
LOWEST_TESTS := tests/math tests/nodes tests/test_model.py tests/io tests/results tests/simulation tests/solvers tests/study tests/view

# a screen for what cannot do without
SCREEN := $(if $(DISPLAY),,$(if $(shell command -v xvfb-run),xvfb-run -a))

VENV := .venv
BIN := $(VENV)/bin
CREATED := $(VENV)/.created
FOR_DEMO := $(VENV)/.installed-demo
FOR_TEST := $(VENV)/.installed-test
FOR_DOCS := $(VENV)/.installed-docs
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: help demo test lint format proof benchmarks docs wheel package lowest clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: $(FOR_DEMO)
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest $(PYTEST_ARGUMENTS) tests
	MBD_COMPILER=numba $(BIN)/python -m pytest $(PYTEST_ARGUMENTS) $(PUBLIC_COMPILER_TESTS)

lint: $(FOR_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy mbd

format: $(FOR_TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

proof: $(FOR_TEST)
	$(BIN)/python -m tests.mutants $(MUTANTS)
	$(BIN)/python benchmarks/paper_iterations.py > docs/paper_iterations.md.new
	mv docs/paper_iterations.md.new docs/paper_iterations.md
	$(BIN)/python benchmarks/long_runs.py > docs/long_runs.md.new
	mv docs/long_runs.md.new docs/long_runs.md
	$(BIN)/python benchmarks/compatibility.py --page docs/compatibility.md

benchmarks: $(FOR_DEMO)
	$(BIN)/python -m mbd benchmarks

docs: $(FOR_DOCS)
	$(BIN)/python docs/site/build.py $(DOCS_ARGUMENTS)

wheel: $(FOR_DEMO)
	rm -rf build/code
	$(BIN)/python -m pip --disable-pip-version-check wheel . --no-deps --wheel-dir dist
	$(BIN)/python -m mbd warmup --for x86-64-v3 --into build/code
	$(BIN)/python -m pip --disable-pip-version-check wheel . --no-deps --wheel-dir dist

package: $(FOR_TEST)
	.ci/package

# Those that compare with other toolkits need newer versions of numpy than the lowest. VTK before 9.4 renders on a screen only.
lowest: $(FOR_TEST)
	rm -rf build/lowest
	$(BIN)/python -m uv venv --quiet --python $(BIN)/python build/lowest
	$(BIN)/python -m uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct \
		".[view,study,fmi]" "fmpy>=0.3.20" "pytest>=8.0" "pytest-xdist>=3.5" "playwright>=1.40" "pygltflib>=1.16" "usd-core>=24.11" "pyparsing>=3.2,<3.3"
	$(BIN)/python -m uv pip uninstall --quiet --python build/lowest/bin/python mbd
	PYTHONPATH=$(CURDIR) NUMBA_CACHE_DIR=$(CURDIR)/build/lowest-code $(SCREEN) build/lowest/bin/python -m pytest $(PYTEST_ARGUMENTS) \
		-rs $(LOWEST_TESTS) --ignore tests/io/mjcf --ignore tests/io/test_urdf_robots.py

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "mbd needs Python 3.11 or later, and '$(PYTHON)' is" \
			"$$($(PYTHON) --version 2>/dev/null || echo 'not there')." \
			"Name another one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
		rm -rf $(VENV); \
		echo "No virtual environment could be made. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@touch $@

$(FOR_DEMO): $(CREATED) pyproject.toml
	$(PIP) --editable ".[view]"
	@touch $@

$(FOR_TEST): $(CREATED) pyproject.toml
	$(PIP) --editable ".[dev,view]"
	@touch $@

$(FOR_DOCS): $(CREATED) pyproject.toml
	$(PIP) --editable ".[docs]"
	@touch $@
