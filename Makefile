# Every target sets up what it needs: a machine with python3 (venv included) and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto

.PHONY: demo test test-torch test-jax test-versions browser long lint bench docs dist clean

demo: $(VENV)/.demo
	$(BIN)/kinpair demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --ignore=tests/browser
	$(BIN)/python -m pytest -n 0 -rs tests/browser

# pages in Debian's chromium; skipped with the reason where it is not installed
browser: $(VENV)/.dev
	$(BIN)/python -m pytest -n 0 -rs tests/browser

long: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) -m "long or not long"

# m.torch and m.jax, each in an environment of its own
test-torch test-jax: test-%:
	$(PYTHON) -m venv build/$*
	build/$*/bin/python -m pip install --quiet --disable-pip-version-check -e ".[$*]" pytest
	build/$*/bin/python -m pytest -p no:cacheprovider -c tests/tensors/pytest.ini tests/tensors/test_$*.py

# test_tiny and the path of a call on every interpreter that is found; PYTHONS="python3.11 python3.13" names them
test-versions:
	$(PYTHON) tools/test_versions.py $(PYTHONS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/python tools/docstrings.py

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W -q -b html docs build/docs
	@echo "open build/docs/index.html"

# a wheel for others: pip install dist/kinpair-*.whl
dist: $(BIN)/python
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'kinpair needs Python 3.11 or later; say make PYTHON=python3.12')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[view]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@# exported C is tested: a machine without a C compiler gets one from the extra `cc`
	command -v cc > /dev/null && extras=dev || extras=dev,cc; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$$extras]"
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@
