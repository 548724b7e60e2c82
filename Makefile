# GNU make. Every target sets up what it needs by itself; see `make help`.

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all test-unit test-s3 lab lab-down bench dist test-install lint style format golden pages screenshots screenshot-tools lock clean

BIN := .venv/bin
SETUP = PYTHON='$(PYTHON)' sh .ci/setup

help: ## list the targets
	@echo 'usage: make TARGET [ARGS="..."] [PYTHON=/path/to/python3]'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | \
		while IFS='|' read -r name text; do printf '  %-18s %s\n' "$$name" "$$text"; done

setup: ## make .venv and install fio, where missing or out of date
	@$(SETUP) venv fio

run: setup ## start cephtui: make run, make run ARGS="run write-iops"
	@$(BIN)/cephtui $(ARGS)

test: style ## check everything: lint, format, types and tests; those with the lab need root
	@$(SETUP) lab browser
	$(BIN)/python -m tests.lanes $(ARGS)

test-all: style ## the same with what takes long, and an hour of use with faults: make test-all ARGS="--load 2"; needs root
	@$(SETUP) lab browser
	$(BIN)/python -m tests.lanes --all $(ARGS)
	@$(MAKE) test-install ARGS=

test-unit: lint ## check everything but what needs root, the lab, tmux or Chromium
	$(BIN)/python -m pytest -n 2 tests/unit tests/end_to_end -m 'not root' $(ARGS)

test-s3: setup ## test S3 with the real programs: make test-s3 HSBENCH=/opt/hsbench GOSBENCH=/opt/gosbench; needs root
	@test -x '$(HSBENCH)' && test -x '$(GOSBENCH)/server' || \
		{ echo 'name the programs: make test-s3 HSBENCH=/opt/hsbench GOSBENCH=/opt/gosbench' >&2; exit 2; }
	@$(SETUP) lab
	HSBENCH='$(abspath $(HSBENCH))' GOSBENCH='$(abspath $(GOSBENCH))' \
		$(BIN)/python -m pytest tests/on_lab/test_s3.py tests/on_lab/test_gosbench.py tests/on_lab/test_lost.py \
		-k "s3 or hsbench or gosbench" $(ARGS)

lab: setup ## bring up Ceph and three hosts on this machine, for trying and testing; needs root
	@$(BIN)/python -m tests.lab check
	@$(SETUP) lab
	@$(BIN)/python -m tests.lab up --gateway $(ARGS)

lab-down: setup ## end the lab and remove everything of it
	@$(BIN)/python -m tests.lab down

bench: setup ## measure what cephtui costs, in a quarter of an hour: make bench, make bench ARGS="console"; needs root
	@$(BIN)/python -m tests.lab check
	@$(SETUP) lab
	@$(BIN)/python -m tests.bench $(ARGS)

dist: setup ## make in dist/ what users install: wheel, sdist, one file without internet, Debian packages
	@$(SETUP) dist
	@$(BIN)/python -m tests.dist

test-install: dist ## install all that is in dist/ on fresh roots of Debian, run it, and remove it; needs root
	@$(SETUP) roots
	$(BIN)/python -m pytest -n 0 -m matrix tests/install $(ARGS)

lint: style ## check style, format and types
	$(BIN)/mypy

style: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: setup ## format the code and fix what ruff can fix
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

golden: setup ## write tests/golden.txt again, which has the wording of what users read
	rm -f tests/golden.txt
	$(BIN)/python -m pytest -q -n 0 --golden tests/unit

pages: setup ## write again the parts of the documentation that are made from the code
	@$(BIN)/python -m tests.pages

screenshots: setup screenshot-tools ## draw the screenshots of the documentation again
	@$(BIN)/python -m tests.screenshots $(ARGS)

screenshot-tools: setup ## install the font and the browser of the screenshots
	@$(SETUP) screenshot-tools browser

lock: ## make requirements.lock again; ARGS=--upgrade takes the newest versions
	@$(SETUP) lock $(ARGS)

clean: ## remove .venv, builds and caches
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
