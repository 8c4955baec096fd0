PYTHON ?= python3
BIN := .venv/bin

PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist worksteal

# Warnings are errors; pages that did not change are not built again.
SPHINX := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html

.PHONY: demo docs docs-quick package wheel-lowest wheel-newest test test-all test-random test-machines fuzz lint bench clean

demo: .venv/demo.stamp
	$(BIN)/eigenlabel demo

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site in docs/_build/html, with the examples executed. Neither step uses the network.
docs: .venv/dev.stamp
	$(SPHINX) docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html

# The same without executing the examples.
docs-quick: .venv/dev.stamp
	EIGENLABEL_GALLERY=0 $(SPHINX) docs docs/_build/quick
	$(BIN)/python tools/check_links.py docs/_build/quick

# The wheel and the source archive in dist/, checked as the package index checks them.
package: .venv/dev.stamp
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/twine check --strict dist/*

# The wheel in an empty environment, with the lowest versions that it allows and with the newest.
# Both need a package index.
wheel-lowest: package
	$(BIN)/python tools/try_wheel.py lowest dist/*.whl --extras

wheel-newest: package
	$(BIN)/python tools/try_wheel.py newest dist/*.whl

# Some minutes on two cores.
test: lint docs-quick
	$(PYTEST) -m "not slow"

# Also slow tests, many generated examples, the kernels of another processor, the fuzz campaigns,
# the site with its examples, and the package in empty environments.
test-all: lint docs wheel-lowest wheel-newest
	$(PYTEST) --hypothesis-profile=many
	$(BIN)/python tools/test_machines.py --other --threads 1 -m "not slow"
	$(MAKE) fuzz

# Generated examples that nobody has seen before.
test-random: .venv/dev.stamp
	$(PYTEST) --hypothesis-profile=random

fuzz: .venv/dev.stamp
	$(PYTEST) tests/fuzz/fuzz_*.py

# Under every family of BLAS kernels that this processor supports, with one and two threads.
test-machines: .venv/dev.stamp
	$(BIN)/python tools/test_machines.py

bench: .venv/dev.stamp
	$(BIN)/python benchmarks/run_all.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/dev.stamp: pyproject.toml requirements-dev.txt | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@ .venv/demo.stamp

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	rm -rf docs/_build docs/auto_examples docs/reference/generated docs/reference/backreferences
