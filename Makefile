# The commands of this project. `make` alone prints them.

GO      ?= go
PYTHON  ?= python3
SAM     ?= sam
# The environment of samconfig.toml that is built for and deployed, and its processor: arm64 or x86_64.
ENV     ?= default
ARCH    ?= $(shell infra/arch.sh samconfig.toml $(ENV))
TOOLS   := .tools
DYNOXIDE_VERSION := 3.2.0
HYDRA_DIR        := infra/interop/hydra
RIE_VERSION      := v0.0.0-20261030222936-bef5c4ba774d

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this help
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Try it

.PHONY: run
run: ## Start the whole system here, with demo data (ADDR, DATA, RESET=1)
	@mkdir -p $(TOOLS)/bin
	$(GO) build -o $(TOOLS)/bin/local ./functions/local && exec $(TOOLS)/bin/local $(RUNFLAGS)

# Lambda's name for the processor of this machine.
HERE := $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)

.PHONY: sam-local
sam-local: $(TOOLS)/bin/dynoxide sam-build-here ## Run the functions as built for Lambda, in Docker, with demo data
	$(GO) run ./infra/samlocal

.PHONY: sam-build-here
sam-build-here: $(TOOLS)/sam/installed
	ARCH=$(HERE) SAM_CLI_TELEMETRY=0 $(TOOLS)/sam/bin/sam build

##@ Check it

.PHONY: test
test: lint tools ## All tests: format, vet, staticcheck, go test -race, infra/check
	$(GO) test -race $$($(GO) list ./... | grep -v /infra/check)
	$(GO) test -count=1 ./infra/check/...

.PHONY: lint
lint: ## Format, module files, vet, staticcheck, generated files
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "not formatted, run gofmt -w:"; echo "$$bad"; exit 1; fi
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) run ./infra/gen -check

.PHONY: fuzz
fuzz: ## Run every fuzz target FUZZTIME (10000x, or a time)
	GO="$(GO)" infra/fuzz.sh $(or $(FUZZTIME),10000x)

.PHONY: browser
browser: ## Sign in and watch the audit log in headless Chromium, search the pages for barriers (SHOTS=dir for pictures)
	@for b in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do command -v $$b >/dev/null && exit 0; done; false \
		|| { apt-get update -q && apt-get install -y -q --no-install-recommends chromium-headless-shell fonts-dejavu-core; } \
		|| { echo "no Chromium: install chromium-headless-shell or chromium, then run make browser again"; exit 1; }
	$(GO) run ./infra/browser $(if $(SHOTS),-shots $(SHOTS))

.PHONY: clients
clients: ## Walk through the tools with real clients, and sign in with them (PROGRAM to start)
	$(GO) run ./infra/clients $(if $(PROGRAM),-program $(PROGRAM))

.PHONY: e2e
e2e: tools ## Run the functions as deployed, under Lambda's emulator: same answers, failures, clients
	$(GO) test -count=1 ./infra/e2e
	$(MAKE) clients PROGRAM=./infra/e2e

.PHONY: sam-local-test
sam-local-test: $(TOOLS)/bin/dynoxide sam-build-here ## Check what runs under sam local; as root it needs no running Docker
	@docker version >/dev/null 2>&1 || $(MAKE) $(TOOLS)/docker/installed
	$(GO) run ./infra/samlocal -test

.PHONY: ministack-test
ministack-test: $(TOOLS)/ministack/installed sam-build-here ## Deploy the stack into an emulator of AWS and check it there
	$(GO) run ./infra/ministack

.PHONY: second-opinion
second-opinion: $(TOOLS)/moto/installed ## Run the storage contracts over another DynamoDB emulator, moto
	$(GO) run ./infra/secondopinion $(abspath $(TOOLS)/moto/bin/moto_server)

.PHONY: conformance
conformance: ## Run the official MCP conformance suite, compare with docs/conformance.md
	$(GO) run ./infra/conformance

.PHONY: interop
interop: $(TOOLS)/bin/hydra ## Take the tokens of Ory Hydra, and refuse those that are not good (builds Hydra; needs a C compiler)
	$(GO) run ./infra/interop

.PHONY: golden
golden: ## Rewrite the golden files of the tests; read the diff before you commit it
	$(GO) test ./shared/catalog ./shared/tools/... ./infra/budget -update

##@ Change it

.PHONY: generate
generate: ## Write what follows from the catalogue of tools
	$(GO) run ./infra/gen

##@ Deploy it

# What is deployed: the directories of functions/, each a program, but for local.
PROGRAMS := $(filter-out local,$(notdir $(patsubst %/main.go,%,$(wildcard functions/*/main.go))))
GOARCH_arm64  := arm64
GOARCH_x86_64 := amd64

# The same source gives the same bytes, wherever it lies. Without lambda.norpc the Lambda library links net/rpc, which
# keeps every operation of DynamoDB in the program.
GO_BUILD = CGO_ENABLED=0 GOOS=linux GOARCH=$(or $(GOARCH_$(ARCH)),$(error ARCH is arm64 or x86_64, not "$(ARCH)")) \
	$(GO) build -trimpath -buildvcs=false -tags lambda.norpc -ldflags='-s -w -buildid='

.PHONY: build
build: ## Build all functions for ARCH into dist/<program>/bootstrap
	rm -rf dist
	mkdir -p dist/all
	$(GO_BUILD) -o dist/all/ $(PROGRAMS:%=./functions/%)
	@for program in $(PROGRAMS); do mkdir dist/$$program && mv dist/all/$$program dist/$$program/bootstrap || exit 1; done
	@rmdir dist/all

# `sam build` calls this for each function, by its logical id: build-ListIssuesFunction builds functions/list_issues.
build-%Function:
	$(GO_BUILD) -o $(or $(ARTIFACTS_DIR),$(error this target is for sam build; use make build))/bootstrap \
		./functions/$(shell echo $* | sed 's/\([A-Z]\)/_\1/g; s/^_//' | tr A-Z a-z)

.PHONY: build-twice
build-twice: ## Build from two directories and compare the bytes
	GO="$(GO)" ARCH="$(ARCH)" infra/build-twice.sh

.PHONY: validate
validate: $(TOOLS)/venv/installed ## Check template.yaml: cfn-lint, SAM translation, our promises
	$(TOOLS)/venv/bin/cfn-lint template.yaml
	$(GO) run ./infra/gen -check
	$(GO) test -count=1 ./infra/stack
	$(GO) test -count=1 -run '^TestTemplate' ./infra/check

.PHONY: deploy
deploy: validate ## Build and deploy ENV (dev, prod) as samconfig.toml says; needs the SAM CLI and an AWS account
	ARCH=$(ARCH) $(SAM) build --config-env $(ENV)
	$(SAM) deploy --config-env $(ENV)

##@ Prepare

.PHONY: tools
tools: $(TOOLS)/bin/dynoxide $(TOOLS)/bin/aws-lambda-rie $(TOOLS)/venv/installed ## Install the emulators and the SAM translator that the tests use

$(TOOLS)/bin/dynoxide:
	cargo install dynoxide-rs --version $(DYNOXIDE_VERSION) --locked --root $(TOOLS) \
		--no-default-features --features native-sqlite,http-server,cli

# The Lambda Runtime Interface Emulator. Its module has a go.mod of its own, so it is none of ours.
$(TOOLS)/bin/aws-lambda-rie:
	CGO_ENABLED=0 GOBIN=$(abspath $(TOOLS)/bin) $(GO) install \
		github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@$(RIE_VERSION)

# Ory Hydra, with its data in memory. Its version stands in a go.mod of its own. SQLite is in C.
$(TOOLS)/bin/hydra: $(HYDRA_DIR)/go.mod $(HYDRA_DIR)/go.sum
	cd $(HYDRA_DIR) && CGO_ENABLED=1 $(GO) build -trimpath -buildvcs=false -tags sqlite,json1 -o $(abspath $@) github.com/ory/hydra/v2

$(TOOLS)/venv/installed: infra/requirements.txt
	$(PYTHON) -m venv $(TOOLS)/venv
	$(TOOLS)/venv/bin/python -m pip install --quiet --disable-pip-version-check -r infra/requirements.txt
	@touch $@

$(TOOLS)/moto/installed: infra/secondopinion/requirements.txt
	$(PYTHON) -m venv $(TOOLS)/moto
	$(TOOLS)/moto/bin/python -m pip install --quiet --disable-pip-version-check -r infra/secondopinion/requirements.txt
	@touch $@

$(TOOLS)/sam/installed: infra/samlocal/requirements.txt
	$(PYTHON) -m venv $(TOOLS)/sam
	$(TOOLS)/sam/bin/python -m pip install --quiet --disable-pip-version-check -r infra/samlocal/requirements.txt
	@touch $@

$(TOOLS)/ministack/installed: infra/ministack/requirements.txt
	$(PYTHON) -m venv $(TOOLS)/ministack
	$(TOOLS)/ministack/bin/python -m pip install --quiet --disable-pip-version-check -r infra/ministack/requirements.txt
	@touch $@

# Debian's Docker, unpacked and not installed: for make sam-local-test where no daemon answers. busybox is for the
# stand-in of Lambda's image where that cannot be pulled.
DOCKER_PACKAGES := docker.io containerd runc tini busybox-static
$(TOOLS)/docker/installed:
	mkdir -p $(TOOLS)/docker
	cd $(TOOLS)/docker && { apt-get download $(DOCKER_PACKAGES) || { apt-get update -qq && apt-get download $(DOCKER_PACKAGES); }; } 2>&1
	cd $(TOOLS)/docker && for package in *.deb; do dpkg -x $$package . && rm $$package || exit 1; done
	@touch $@
