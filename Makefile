PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test bench clean

demo: .venv/demo.stamp
	$(BIN)/eigenlabel demo

test: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist worksteal

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
