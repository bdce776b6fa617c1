# Two commands do everything on a fresh machine:  make serve  ·  make test

LISTEN ?= 127.0.0.1:8080
STORE  ?= ./data

release := .build/release
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

.PHONY: lint
lint: ## formatting and scripts, strictly
	swift format lint --strict --recursive Package.swift Sources Tests
	for script in $(wildcard scripts/*) .ci/run; do bash -n $$script || exit 1; done
	/usr/bin/python3 -c 'import ast, sys; [ast.parse(open(path).read(), path) for path in sys.argv[1:]]' Tests/Faults/*.py

.PHONY: format
format: ## rewrite the sources in the house's format
	swift format --in-place --recursive Package.swift Sources Tests

.PHONY: clean
clean: ## remove what was built
	rm -rf .build
