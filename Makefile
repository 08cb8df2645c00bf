# Everything runs in .venv, made here on first use; stamps in it say what is installed.

# The first of the given commands that runs and is a Python this project supports.
# A version manager may list commands that are not activated: those do not run.
SUPPORTED = import sys, venv; sys.exit(sys.version_info < (3, 10))
first = $(shell for p in $(1); do "$$p" -c '$(SUPPORTED)' 2>/dev/null \
	&& echo "$$p" && break; done)
pyenv = $(wildcard $(HOME)/.pyenv/versions/$(1).*/bin/python$(1))

ifndef PYTHON
PYTHON := $(call first,python3.13 python3.12 python3.11 python3.10 python3)
endif
ifeq ($(PYTHON),)
$(error No Python 3.10 or newer found: say which with `make PYTHON=/path/to/python`)
endif

# The ends of the supported range, where this machine has them.
PYTHON_3.10 := $(call first,python3.10 $(call pyenv,3.10))
PYTHON_3.13 := $(call first,python3.13 $(call pyenv,3.13))
OTHERS := $(foreach v,3.10 3.13,$(if $(PYTHON_$(v)),$(v)))

BIN := .venv/bin
LINTED := sct tests demo docs benchmarks $(wildcard generated_examples)

.PHONY: help demo test test-all-pythons lint format bench examples clean
.DEFAULT_GOAL := help

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: .venv/.demo  ## differentiate SciPy's rosen, train a network on digits, time it
	$(BIN)/python demo/main.py

test: .venv/.test  ## all tests, then the smoke tests on the oldest and newest Python
	$(BIN)/python -m pytest -q -n "$$(getconf _NPROCESSORS_ONLN)"
	$(if $(OTHERS),$(MAKE) --no-print-directory test-all-pythons)

test-all-pythons: $(OTHERS:%=smoke-%)  ## the smoke tests on Python 3.10 and 3.13

smoke-%: .venv-%/.smoke
	.venv-$*/bin/python -m pytest -q -m smoke

lint: .venv/.test  ## ruff on everything; emitted code must be formatted as well
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check demo $(wildcard generated_examples)

format: .venv/.test  ## let ruff sort imports and format
	$(BIN)/ruff check --fix $(LINTED)
	$(BIN)/ruff format sct tests demo $(wildcard generated_examples)

bench: .venv/.bench  ## gradients against hand-written ones, autograd, JAX (ARGS="--quick")
	$(BIN)/python benchmarks/bench.py $(ARGS)
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/transform_time.py

examples: .venv/.test  ## write generated_examples/ and the generated parts of docs/ again
	$(BIN)/python generated_examples/regenerate.py
	$(BIN)/python docs/regenerate.py

clean:  ## remove what make made
	rm -rf .venv .venv-* .pytest_cache .ruff_cache .hypothesis demo/output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.%: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

.venv-%/.smoke: pyproject.toml
	$(PYTHON_$*) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -e '.[smoke]'
	@touch $@

.PRECIOUS: .venv/.% .venv-%/.smoke
