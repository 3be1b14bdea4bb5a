# `make run` and `make test` need only make and Python 3.11 or newer; everything goes into .venv.
PORT ?= 8501
ADDRESS ?= localhost
ARGS ?=
# A whole run takes as many processes as there are cores; chosen tests are over before a second one has started.
WORKERS ?= $(if $(ARGS),0,auto)

PY := .venv/bin/python
CATALOGUE := locale/compute_reckoner.pot
EXTRACT := $(PY) -m babel.messages.frontend --quiet extract --keyword=N_ --keyword=t --keyword=n:1,2 \
	--project="Compute Reckoner" --omit-header --sort-output --add-location=file --add-comments=Translators: app.py pages ui core

.PHONY: help run test check style types imports strings audit bench messages pins browser

help:
	@echo "make run        start the dashboard on http://$(ADDRESS):$(PORT)   (PORT=… and ADDRESS=… change that)"
	@echo "make test       run every test, those in a real browser too       (ARGS='-k cost' picks some)"
	@echo "make check      style, types, import directions, translations, known vulnerabilities"
	@echo "make bench      measure what a slider move costs"
	@echo "make messages   collect the strings to translate into $(CATALOGUE)"
	@echo "make pins       take up new versions: rewrite constraints.txt from the requirements"

run: .venv/.app .venv/.tables
	@exec $(PY) -m streamlit run app.py --server.headless true --server.port $(PORT) --server.address $(ADDRESS)

# Compiled modules are kept, whatever the caller's environment says: pytest, every server and every command load them.
test: export PYTHONDONTWRITEBYTECODE =
test: browser
	@$(PY) -m pytest --numprocesses $(WORKERS) --maxprocesses 4 --dist worksteal $(ARGS)

check: .venv/.dev
	@$(MAKE) --no-print-directory --keep-going style types imports strings audit

style: .venv/.dev
	@echo "== style (ruff)"
	@$(PY) -m ruff check; found=$$?; $(PY) -m ruff format --check && exit $$found

types: .venv/.dev
	@echo "== types (mypy)"
	@$(PY) -m mypy

imports: .venv/.dev
	@echo "== import directions (import-linter)"
	@.venv/bin/lint-imports --no-logo

strings: .venv/.dev
	@echo "== strings to translate (babel)"
	@new=$$(mktemp) && trap 'rm -f "$$new"' EXIT && $(EXTRACT) --output-file="$$new" && diff -u $(CATALOGUE) "$$new" \
		|| { echo "$(CATALOGUE) is out of date: run make messages"; exit 1; }

audit: .venv/.dev
	@echo "== known vulnerabilities (pip-audit)"
	@$(PY) scripts/audit.py

bench: .venv/.dev
	@$(PY) benchmarks/bench.py $(ARGS)

messages: .venv/.dev
	@$(EXTRACT) --output-file=$(CATALOGUE)

pins: .venv/.dev
	@sh scripts/pins.sh

browser: .venv/.dev
	@sh scripts/browser.sh

# The stamps say what is installed, and which tables were found sound; they are older than what changes after them.
.venv/.app: requirements.txt constraints.txt | $(PY)
	@echo "Installing what the app needs…"
	@sh scripts/install.sh -r requirements.txt
	@touch $@

.venv/.dev: requirements.txt requirements-dev.txt constraints.txt | $(PY)
	@echo "Installing what the app and its tests need…"
	@sh scripts/install.sh -r requirements.txt -r requirements-dev.txt
	@touch .venv/.app $@

.venv/.tables: data $(wildcard data/*.csv data/*.json) $(wildcard core/*.py) | .venv/.app
	@$(PY) -m scripts.check_tables
	@touch $@

$(PY):
	@sh scripts/venv.sh $(PYTHON)
