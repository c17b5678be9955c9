# "make" lists what there is. CI runs .ci/run, which is made of these targets.
GOLANGCI_VERSION    := v2.15.0
GOVULNCHECK_VERSION := v1.8.0

# Of Apache Kafka, beside the one that scripts/kafka/pom.xml names.
KAFKA_NEWEST        := 4.4.0

FUZZTIME ?= 20s
BENCH    ?= .

# go.work has three modules: the product, the Go client, and the test of both. "work"
# is every package of them. Modules that need other versions of libraries stand
# outside, so that what is built here is what each go.mod says.
PKG      ?= work
MODULES  := . analytics test/clienttest
OUTSIDE  := analytics/internal/compare test/consoletest
in_each   = @set -e; for module in $(MODULES); do echo "$$module: $(1)"; (cd $$module && $(1)); done
in_others = @set -e; for module in $(OUTSIDE); do echo "$$module: $(1)"; (cd $$module && GOWORK=off $(1)); done

BIN      := $(CURDIR)/.bin
GOLANGCI := $(BIN)/golangci-lint
KAFKA    := scripts/kafka/kafka.sh

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build run
build: ## Build .bin/anabranch
	go build -o $(BIN)/anabranch ./cmd/anabranch

run: build ## Run every stage in one process, with the example workspace
	$(BIN)/anabranch run

.PHONY: test test-kafka test-redpanda bench bench-client fuzz personas-seeds personas-figures
test: ## Run the tests on the in-process broker, and on Redpanda where Docker has its image
	go test $(PKG)
	@! scripts/compose/redpanda.sh || $(MAKE) --no-print-directory test-redpanda

# One package at a time: they share the broker. Never from the cache, which does
# not know that the broker is another. Packages whose tests need no broker say nothing
# here that they do not say elsewhere; PKG=work runs them too.
ON_BROKERS = $(if $(filter file,$(origin PKG)),$(shell grep -rl --include=*_test.go --exclude-dir='.?*' 'testkit\.Brokers' . | xargs -n 1 dirname | sort -u),$(PKG))

test-kafka: ## Run the same tests on a real Apache Kafka
	$(KAFKA) with go test -p 1 -count=1 $(ON_BROKERS)

test-redpanda: ## Run the same tests on Redpanda in Docker
	ANABRANCH_TEST_BROKER=redpanda go test -p 1 -count=1 $(ON_BROKERS)

bench: ## Run the benchmarks (BENCH=regexp PKG=./router)
	go test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

bench-client: ## Compare the Go client with the official one
	cd analytics/internal/compare && GOWORK=off go test -bench . -benchtime 30000x -count 5

fuzz: ## Run each fuzz target for FUZZTIME (20s)
	scripts/fuzz.sh $(FUZZTIME) $(PKG)

# SEEDS is how many: make personas-seeds SEEDS=50000
SEEDS ?= 10000
personas-seeds: ## Hold audiences and traits of SEEDS (10000) random users against the oracle
	go test -count=1 -timeout 60m -run TestTheOracleAgrees ./personas/internal/engine -engine.seeds $(SEEDS)

# The figures of docs/personas.md: on a busy machine only the processor time says something.
# FIGURES picks some: make personas-figures FIGURES='Fold Restore'
FIGURES        ?= Fold Stage Backfill Latency Restore
figures_Fold     := 1x
figures_Stage    := 60000x
figures_Backfill := 600000x
figures_Latency  := 10000x
figures_Restore  := 1000000x
personas-figures: ## Measure audiences and traits: speed, latency, restoring, memory (10 min, 3 GiB)
	@set -e; $(foreach f,$(FIGURES),go test -run '^$$' -cpu 2 -timeout 30m -bench '^Benchmark$(f)$$' -benchtime $(figures_$(f)) ./personas;)

# The figures of docs/audit.md: make audit-figures CALLS=1000000
.PHONY: audit-figures replay-figures copies-figures journal-figures
CALLS ?= 10000000
audit-figures: ## Measure an audit of CALLS (10,000,000) calls on a real Apache Kafka (3 min, 3 GB of disk)
	$(KAFKA) with go test -run '^$$' -timeout 30m -bench '^BenchmarkAudit$$' -benchtime $(CALLS)x ./internal/audit

# The figures of docs/replay.md.
replay-figures: ## Measure a plan of CALLS (10,000,000) events on a real Apache Kafka, and live events beside a replay (8 min, 3 GB of disk)
	$(KAFKA) with go test -run '^$$' -timeout 30m -bench '^BenchmarkPlan$$' -benchtime 1x ./router/replay -planned $(CALLS)
	go run ./test/storm -rows replay-beside

# The figures of docs/delivery.md about copies. SEEN_BENCH is how many calls are remembered.
copies-figures: ## Measure the router's memory of calls: speed, pauses, memory, restoring (15 min, 12 GB of disk)
	SEEN_BENCH=50000000 go test -run '^$$' -timeout 30m -bench '^BenchmarkSeen$$' -benchtime 10000000x ./internal/seen
	SEEN_BENCH=200000000 go test -run '^$$' -timeout 30m -bench '^BenchmarkLoad$$' -benchtime 1x ./internal/seen
	SEEN_BENCH=10000000 go test -run '^$$' -timeout 30m -bench '^Benchmark(Load|Open)$$' -benchtime 1x ./internal/seen
	SEEN_BENCH=10000000 go test -run '^$$' -timeout 30m -bench '^BenchmarkRestore$$' -benchtime 1x ./internal/seen/digest
	SEEN_BENCH=50000000 go test -run '^$$' -timeout 30m -bench '^BenchmarkRouter$$/./journal=true' -benchtime 800000x -count 3 ./router
	go run ./test/storm -rows copies

# The figures of docs/journal.md.
journal-figures: ## Measure what the journal costs router and sink (6 min)
	go test -run '^$$' -bench '^BenchmarkNote$$' ./webhook-sink/internal/journal
	go run ./test/storm -rows journal

# The figures of docs/console.md, on a broker of its own, whose data are new.
# LARGE passes options on: make console-figures LARGE="-destinations 1000 -only letters"
.PHONY: console-figures
console-figures: export KAFKA_PORT := 19392
console-figures: ## Measure the pages of 10,000 destinations, 1 M dead letters and users (20 min, 6 GiB of disk)
	$(KAFKA) clean
	$(KAFKA) with go run ./test/largetest $(LARGE)

# It starts a broker of its own, on KAFKA_PORT 19192 and the three after it.
.PHONY: test-security
test-security: ## TLS, SASL and ACLs on a secured Apache Kafka of its own
	ANABRANCH_TEST_SECURITY=1 go test -count=1 ./test/securitytest

.PHONY: deploy-check
deploy-check: ## Check alert rules, dashboards and Kubernetes manifests (needs promtool, jq, npm, Python)
	go test ./deploy
	scripts/deploy/check.sh

.PHONY: schema-check
schema-check: ## Have Ajv take the JSON Schemas in its strict mode (needs Node, npm)
	scripts/schemas/strict.sh

# COMPOSE passes options on: make compose-test COMPOSE="-steps steady,kill-sink"
.PHONY: compose-test
compose-test: ## docker compose on an engine of its own: scale, stop and kill it, and count (3 min; root, Debian)
	scripts/compose/engine.sh with go run ./test/composetest $(COMPOSE)

# STORM passes options on: make storm STORM="-rows kill-sink -seed 7"
.PHONY: storm storm-short storm-kafka storm-kafka-short
storm: ## Fault bench: kill, stop, hang and misbehave under load, and count (80 min)
	go run ./test/storm $(STORM)

storm-short: ## The rows of it that prove something within a minute
	go run ./test/storm -short $(STORM)

storm-kafka: ## The fault bench on a real Apache Kafka
	$(KAFKA) with go run ./test/storm -broker-pid $(CURDIR)/.kafka/$${KAFKA_PORT:-19092}/pid -broker-start '$(KAFKA) start' $(STORM)

# On data of its own, which are new each time: what a version does with those of
# another is not the question.
storm-kafka-short: export KAFKA_VERSION := $(KAFKA_NEWEST)
storm-kafka-short: export KAFKA_PORT := 19292
storm-kafka-short: ## kill -9 of the newest Apache Kafka under calls, three times (2 min)
	$(KAFKA) clean
	$(MAKE) --no-print-directory storm-kafka STORM="-short -rows broker-kill $(STORM)"

# SDK passes options on: make sdk-test SDK="-only go3,python"
.PHONY: sdk-test
sdk-test: ## Have the official SDKs speak to it, and look at what arrives
	go run ./test/sdktest $(SDK)

.PHONY: console-test screenshots
console-test: ## Have Chromium and axe-core look at the console (needs chromium, npm)
	cd test/consoletest && GOWORK=off go test -count=1 .

screenshots: ## Draw the pictures of the console in docs/images (needs chromium)
	cd test/consoletest && GOWORK=off go test -count=1 -run TestPictures . -screenshots $(CURDIR)/docs/images

.PHONY: check format format-diff fix-diff vet lint race tidy-diff
check: format-diff fix-diff vet lint race tidy-diff ## Run all that a change must pass

format: $(GOLANGCI) ## Format the code
	$(GOLANGCI) fmt

format-diff: $(GOLANGCI)
	$(GOLANGCI) fmt --diff

fix-diff:
	go fix -diff work

vet:
	go vet work
	$(call in_others,go vet ./...)

lint: $(GOLANGCI)
	$(call in_each,$(GOLANGCI) run)

race:
	go test -race -shuffle=on -timeout 30m work

tidy-diff:
	$(call in_each,go mod tidy -diff)
	$(call in_others,go mod tidy -diff)

# The plus has "make -n release" run it too, which says what it would do.
.PHONY: release
release: ## Tag a release of the product and of the Go client (VERSION=v1.2.3; with -n: only check)
	+@scripts/release.sh $(if $(findstring n,$(firstword -$(MAKEFLAGS))),-n) $(VERSION)

# With PIN=-u digests are taken out again: the stand-in for Redpanda of compose-test bears a tag.
.PHONY: pin-images
pin-images: ## Write the digests of images behind their tags (needs the network; PIN=-u takes them out)
	scripts/pin-images.sh $(PIN)

.PHONY: vuln
vuln: $(BIN)/govulncheck ## Look for known vulnerabilities (needs the network)
	$(BIN)/govulncheck work

# KAFKA_VERSION is passed on: make kafka KAFKA_VERSION=4.4.0
.PHONY: kafka kafka-stop kafka-clean
kafka: ## Start a real Apache Kafka (needs Java 17 and Maven)
	@$(KAFKA) start

kafka-stop: ## Stop it; its data stays
	@$(KAFKA) stop

kafka-clean: ## Stop it and delete its data
	@$(KAFKA) clean

.PHONY: tools FORCE
tools: $(GOLANGCI) $(BIN)/govulncheck ## Install the pinned tools into .bin/

# What is fetched is fetched once, so that this can go on beside something else.
.PHONY: fetch
fetch: tools ## Fetch all that the checks need: tools, releases of Apache Kafka, SDKs
	@$(KAFKA) jars >/dev/null
	@KAFKA_VERSION=$(KAFKA_NEWEST) $(KAFKA) jars >/dev/null
	go run ./test/sdktest -install

# A tool is installed when it is absent or of another version; FORCE makes each
# run look.
FORCE:
$(GOLANGCI): FORCE
	@$(call install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_VERSION))
$(BIN)/govulncheck: FORCE
	@$(call install,golang.org/x/vuln/cmd/govulncheck,$(GOVULNCHECK_VERSION))

install = [ "$$(go version -m $@ 2>/dev/null | awk '$$1 == "mod" { print $$3 }')" = $(2) ] || \
	{ echo "installing $(1)@$(2)"; GOBIN=$(BIN) go install $(1)@$(2); }
