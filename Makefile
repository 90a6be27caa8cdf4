# make demo    train and compare on embedded data: one table, one picture (out/demo.png)
# make thin    thin an XGBoost model: one table, one picture (out/thinning.png)
# make test    lint, types and tests: one formulation for each mechanism, few data sets (three minutes)
# make test-all  the whole of the tests: every formulation, CVXPY at every iteration, 40,000 damaged files
# make attack MINUTES=5  random data, parameters, faults and damage, judged by oracles (SEED=n: from that seed on; CASES=n: of each kind)
# make test-browser  the study's report in Chromium (Debian's chromium and chromium-driver)
# make docs    the documentation as pages that need no network: out/docs/index.html
# make bench   fit and prediction times as ratios to LightGBM's (BENCH="--quick" for two minutes; DUALBOOST_DATA=FOLDER)
# make clean   remove the environment and everything made

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
#- pip would compile what it installs on one core; compileall takes all of them.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable
COMPILE := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib >/dev/null 2>&1 || true
#- Threads that wait would spin, and take the cores from the other tests.
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive
PYTEST := $(THREADS) $(BIN)/python -m pytest -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo thin test test-all attack test-browser lint types pytest docs bench clean

help:
	@sed -n 's/^# //p' Makefile

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[demo]'
	@$(COMPILE)
	@touch $@

$(VENV)/.test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[test]'
	@$(COMPILE)
	@touch $(VENV)/.base $@

$(VENV)/.docs: pyproject.toml $(VENV)/.base
	$(INSTALL) '.[docs]'
	@$(COMPILE)
	@touch $@

demo: $(VENV)/.base
	$(BIN)/python examples/demo.py

thin: $(VENV)/.base
	$(BIN)/python examples/thin_xgboost.py

test: lint types pytest  # what else is checked in a few seconds joins here, before pytest

test-all: $(VENV)/.test
	DUALBOOST_THOROUGH=1 $(PYTEST)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo

types: $(VENV)/.test
	$(BIN)/mypy

pytest: $(VENV)/.test
	$(PYTEST)

attack: $(VENV)/.test
	$(THREADS) $(BIN)/python -m tests.attack --minutes $(or $(MINUTES),5) $(if $(SEED),--seed $(SEED)) $(if $(CASES),--cases $(CASES))

test-browser: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest browser_tests

docs: $(VENV)/.docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -a -E -n -W --keep-going -q -d out/doctrees docs out/docs
	@echo out/docs/index.html

bench: $(VENV)/.test
	$(BIN)/python benchmarks/bench.py $(BENCH)

clean:
	rm -rf $(VENV) out docs/gallery docs/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis
