PYTHON ?= python3
# compiled once, not by each of the processes that tests start
unexport PYTHONDONTWRITEBYTECODE
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help docs pictures demo test test-designs test-deep test-more test-all lint bench compat compat-franz compat-sarama kafka-release rediscover rediscover-behaviour clients-table fuzz-self wheel wheel-trials image-trial clean

help:
	@echo "make demo          start an embedded cluster, real clients and the proxy between them"
	@echo "make test          unit tests, playbooks and properties: under three minutes on two cores"
	@echo "make test-designs  the same for the designs of the founding documents"
	@echo "make test-more     slow tests: Spark, Apache Kafka, Go, tshark, chromium"
	@echo "make test-all      all three"
	@echo "make test-deep     1,000 examples of each property, and the longest tests: for the night"
	@echo "make lint          ruff, mypy, import contracts"
	@echo "make docs          build the documentation into build/docs, with new pictures: a minute"
	@echo "make pictures      draw the pictures and the recording in docs/pictures anew; needs chromium"
	@echo "make bench         compare speed, in ratios; one part: make bench ARGS=\"--only pipeline\""
	@echo "make fuzz-self     fuzz our own decoders and proxy for two minutes: no findings are expected"
	@echo "make mutants PART=proxy/rules  plant bugs in a part, and report which ones its tests miss"
	@echo "make rediscover    run campaigns against releases with known bugs, and against their fixes"
	@echo "make rediscover-behaviour  run scenarios against client releases with known bugs, and against their fixes"
	@echo "make clients-table  run client libraries under all scenarios, and write docs/clients.md: hours"
	@echo "make compat        run brokers and clients of many versions, directly and through the proxy"
	@echo "make compat-franz  run franz-go's own tests (Go, 4.3.1), directly and through the proxy"
	@echo "make compat-sarama  run Sarama's functional tests (Go, 4.3.1) through toxiproxy, then through barnabas"
	@echo "make kafka-release VERSION=4.4.0  report what a release changes; write tests/golden anew"
	@echo "make wheel         build wheels and sdist into dist/, and check them; with Go: minutes"
	@echo "make image-trial   run the steps of Containerfile in a Debian of debootstrap, as root: minutes"
	@echo "make wheel-trials  install both, and each extra, into fresh environments, and try them: minutes"

# each target makes .venv if need be and installs what it needs, once (a stamp for each extra)
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "barnabas needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 2; }
	@echo "making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-%: pyproject.toml | $(BIN)/python
	@echo "installing barnabas[$*] into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

demo: $(VENV)/.stamp-demo
	@$(BIN)/barnabas demo

# a file of tests stays in one process: what they share is made once. One process more than cores: many tests
# wait for others. The order is that of tests/conftest.py: the longest first
ON_ALL_CORES := --numprocesses $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --maxprocesses 5 \
  --dist loadfile --no-loadscope-reorder
DESIGNS := tests/designs barnabas/designs
test: $(VENV)/.stamp-test
	@$(BIN)/python -m pytest $(ON_ALL_CORES) -m "not slow" $(addprefix --ignore=,$(DESIGNS))

test-designs: $(VENV)/.stamp-test
	@$(BIN)/python -m pytest $(ON_ALL_CORES) -m "not slow" $(DESIGNS)

test-deep: $(VENV)/.stamp-test
	@$(BIN)/python -m pytest $(ON_ALL_CORES) -m "deep or hypothesis" --hypothesis-profile=deep

# four at a time, on however many cores: one has all of Spark, one all scenarios with three brokers
# (tests/scheduling.py), and much of the rest waits; no more, since clients of JVMs have deadlines;
# then clients in front of three clusters, which mostly wait; then what is compared with toxiproxy by time
test-more: $(VENV)/.stamp-test
	@code=0; \
	$(BIN)/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder \
	  -m "slow and not alone and not deep" tests || code=$$?; \
	$(BIN)/python -m pytest --numprocesses 3 -m alone tests/compat || code=$$?; \
	$(BIN)/python -m pytest -m alone tests/proxy/toxiproxy || code=$$?; \
	exit $$code

test-all: test test-designs test-more

lint: $(VENV)/.stamp-test $(VENV)/.stamp-lint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/.stamp-bench
	@$(BIN)/python -m bench $(ARGS)

compat: $(VENV)/.stamp-test
	@$(BIN)/python -m tests.compat

compat-franz: $(VENV)/.stamp-test
	@$(BIN)/python -m tests.compat.kgo

compat-sarama: $(VENV)/.stamp-test
	@$(BIN)/python -m tests.compat.sarama

# exit code 1: something differs, which make calls an error
kafka-release: $(VENV)/.stamp-test
	@$(BIN)/python -m tests.golden.release "$(VERSION)" --write

# a fixed seed and a limit of time: what it finds is a bug of ours. FUZZ_SECONDS: for each of the three, which
# may run side by side (make --jobs 2)
FUZZ_SECONDS ?= 40
FUZZ_SELF := fuzz-self/specs fuzz-self/captures fuzz-self/proxy
.PHONY: $(FUZZ_SELF)
fuzz-self/specs: CAMPAIGN := decoders --target decoder:specs
fuzz-self/captures: CAMPAIGN := decoders --target decoder:captures
fuzz-self/proxy: CAMPAIGN := own-proxy --target proxy
fuzz-self: $(FUZZ_SELF)
$(FUZZ_SELF): $(VENV)/.stamp-test
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  $(BIN)/barnabas fuzz run $(CAMPAIGN) --seconds $(FUZZ_SECONDS) --db "$$folder/self.fuzz.db"

mutants: $(VENV)/.stamp-test
	$(if $(PART),,$(error a part is needed: make mutants PART=proxy/rules))
	@$(BIN)/python -m tests.mutation $(PART) $(ARGS)

rediscover: $(VENV)/.stamp-test
	@$(BIN)/python -m tests.rediscover

rediscover-behaviour: $(VENV)/.stamp-test
	@$(BIN)/python -m tests.rediscover_behaviour

# exit code 1: a cell is unexpected, which is a result. Interrupted, it continues with the cells of build/clients
clients-table: $(VENV)/.stamp-test
	@$(BIN)/barnabas clients run --workload all --spread 2 --jobs 12 --out build/clients $(ARGS) || [ $$? -eq 1 ]
	@$(BIN)/barnabas clients report --out build/clients --format public > build/clients.md
	@mv build/clients.md docs/clients.md

# the reference is written from the code first; a dead link fails. Pictures differ with each run (times, ports), so
# the site gets new ones and the repository keeps its own until `make pictures`
docs: $(VENV)/.stamp-test $(VENV)/.stamp-docs
	@$(BIN)/python -m tests.docs.reference
	@$(BIN)/mkdocs build --quiet --strict
	@if command -v chromium >/dev/null && script --version >/dev/null 2>&1; then \
	  $(BIN)/python -m tests.docs.pictures build/docs/pictures; \
	  else echo "no chromium, or no script of util-linux, on the path: the pictures are kept as they are"; fi
	@echo "open build/docs/index.html"

pictures: $(VENV)/.stamp-test
	@$(BIN)/python -m tests.docs.pictures docs/pictures

# Go builds kfake for each platform: minutes at first. --here: for this machine only
PLATFORMS :=
wheel: $(VENV)/.stamp-wheel
	@rm -rf dist && $(BIN)/python -m build --outdir dist . >/dev/null
	@$(BIN)/python -m tests.package.platform_wheels $(PLATFORMS) dist/*.whl
	@$(BIN)/twine check --strict dist/*
	@$(BIN)/check-wheel-contents dist/*.whl

# another Python: python3.14 tests/package/trials.py --all dist/*-any.whl
wheel-trials: PLATFORMS := --here
wheel-trials: wheel
	@$(BIN)/python tests/package/trials.py dist/*.whl dist/*.tar.gz

image-trial: $(VENV)/.stamp-test
	@[ -d build/trixie/usr ] || debootstrap --variant=minbase --include=ca-certificates trixie build/trixie >/dev/null
	@$(BIN)/python -m tests.package.image_trial build/trixie

clean:
	rm -rf $(VENV) build dist *.egg-info
