# The commands of this project. `make` alone prints them.

GO      ?= go
ARCH    ?= arm64
TOOLS   := .tools
DYNOXIDE_VERSION := 3.2.0

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Try it

.PHONY: run
run: ## Start the whole system here, with demo data (ADDR, DATA, RESET=1)
	$(GO) run ./functions/local $(RUNFLAGS)

##@ Check it

.PHONY: test
test: lint tools ## All tests: format, vet, staticcheck, go test -race, infra/check
	$(GO) test -race ./...
	$(GO) test -count=1 ./infra/check/...

.PHONY: lint
lint: ## Format, module files, vet, staticcheck, generated files
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "not formatted, run gofmt -w:"; echo "$$bad"; exit 1; fi
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) run ./infra/gen -check

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (10s)
	GO="$(GO)" infra/fuzz.sh $(or $(FUZZTIME),10s)

.PHONY: clients
clients: ## Walk through the tools with the TypeScript and the Go SDK client
	$(GO) run ./infra/clients

.PHONY: golden
golden: ## Rewrite the golden files of the tests; read the diff before you commit it
	$(GO) test ./shared/catalog ./shared/tools/... -update

##@ Change it

.PHONY: generate
generate: ## Write what follows from the catalogue of tools
	$(GO) run ./infra/gen

##@ Prepare

.PHONY: tools
tools: $(TOOLS)/bin/dynoxide ## Install the DynamoDB engine that the tests run against

$(TOOLS)/bin/dynoxide:
	cargo install dynoxide-rs --version $(DYNOXIDE_VERSION) --locked --root $(TOOLS) \
		--no-default-features --features native-sqlite,http-server,cli
