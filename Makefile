# Two commands do everything on a fresh machine:  make serve  ·  make test

LISTEN ?= 127.0.0.1:8080
STORE  ?= ./data

# Real photos, where there are any.
CORPUS ?= ../shared/corpus

release := .build/release
python  := .build/bench/python/bin/python
.DEFAULT_GOAL := help

.PHONY: help
help:
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: serve
serve: build ## install what is missing, build, serve on $LISTEN, store in $STORE
	exec $(release)/safelight serve --listen $(LISTEN) --store $(STORE)

.PHONY: build
build: ## install what is missing, build both programs into .build/release
	scripts/setup
	swift build -c release --static-swift-stdlib --product safelight
	swift build -c release --static-swift-stdlib --product safelight-worker

.PHONY: test
test: build ## install what is missing, build, run all tests
	scripts/setup test
	swift test

.PHONY: faults
faults: build ## install what is missing, build, do to a server what the world does, and load it
	scripts/setup test
	/usr/bin/python3 Tests/Faults long
	/usr/bin/python3 Tests/Faults/load.py
	/usr/bin/python3 Tests/Faults/load.py soak

SECONDS_EACH ?= 600
.PHONY: fuzz
fuzz: ## install what is missing, run each fuzzer for $SECONDS_EACH
	scripts/setup test
	scripts/fuzz $(SECONDS_EACH)

.PHONY: fidelity
fidelity: build ## hold the JPEGs of real HEICs against Pillow's; write Benchmarks/FIDELITY.md
	Benchmarks/setup
	$(python) Benchmarks/fidelity/fidelity.py $(CORPUS)

.PHONY: bench
bench: build ## measure beside peers and the limit, in under 20 minutes; write Benchmarks/RESULTS.md
	Benchmarks/setup
	$(python) Benchmarks/bench --corpus $(CORPUS) --publish

.PHONY: bench-short
bench-short: build ## the same in two minutes, numbers only; fails where a photo takes more instructions than before
	Benchmarks/setup
	$(python) Benchmarks/bench --corpus $(CORPUS) --short

.PHONY: bench-record
bench-record: build ## make this machine's instruction counts the reference for bench-short
	Benchmarks/setup
	$(python) Benchmarks/bench --corpus $(CORPUS) --record

.PHONY: lint
lint: ## formatting and scripts, strictly
	swift format lint --strict --recursive Package.swift Sources Tests Fuzz Benchmarks
	for script in $(wildcard scripts/*) Benchmarks/setup .ci/run; do bash -n $$script || exit 1; done
	/usr/bin/python3 -c 'import ast, sys; [ast.parse(open(path).read(), path) for path in sys.argv[1:]]' Tests/Faults/*.py Benchmarks/*/*.py

.PHONY: format
format: ## rewrite the sources in the house's format
	swift format --in-place --recursive Package.swift Sources Tests Fuzz Benchmarks

.PHONY: clean
clean: ## remove what was built
	rm -rf .build .build-fuzz
