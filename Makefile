# The project's commands. `make` alone lists them.

MAKEFLAGS += --no-print-directory # scripts read what make -s says

PLUGIN ?=
ARGS   ?=
GUESTS ?=

# One set of flags for every go command, so that build, vet, golangci-lint and test
# share one build cache: Kubernetes is compiled once. Only TinyGo needs cgo.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(filter-out -buildvcs=% -trimpath,$(GOFLAGS)) -buildvcs=false -trimpath)

# The minors of Kubernetes that every program can be built from. The first is go.mod's,
# and the default. CONTRIBUTING.md says how to raise them.
MINORS     := 1.36 1.35 1.37
KUBERNETES ?= $(firstword $(MINORS))
ifeq ($(filter $(KUBERNETES),$(MINORS)),)
$(error KUBERNETES=$(KUBERNETES): give one of $(MINORS))
endif

# What go build takes for a minor. kubectl cannot read the version of a server
# that was built without one.
VERSION := k8s.io/component-base/version
other    = $(filter-out $(firstword $(MINORS)),$(1))
modfile  = $(if $(call other,$(1)),tools/kubernetes/$(1).mod,go.mod)
release  = $(shell awk '$$1 == "k8s.io/kubernetes" && $$2 != "=>" { print $$2 }' $(call modfile,$(1)))
versioned = -ldflags '-s -w -X $(VERSION).gitVersion=$(1) -X $(VERSION).gitMajor=1 -X $(VERSION).gitMinor=$(word 2,$(subst ., ,$(1)))'
ldflags  = $(call versioned,$(call release,$(1)))
minor    = $(if $(call other,$(1)),-modfile=$(call modfile,$(1)) -tags kubernetes_$(subst .,_,$(1))) $(call ldflags,$(1))
LDFLAGS := $(call ldflags,$(firstword $(MINORS)))

# What it takes for a program that people get: internal/version says what it is.
# Tests go without, or each commit would link them all again.
OURS     = wasmkwokwizardry.io/regex-scheduling/internal/version
COMMIT   = $(shell git rev-parse --short=12 HEAD 2>/dev/null)
identify = $(patsubst %',% -X $(OURS).tag=$(2) -X $(OURS).commit=$(COMMIT)',$(1))

# The guests, the upstream host and other minors pin modules that not every registry
# serves. Where they are unavailable, they are skipped, loudly.
MODULES := . regex guest tools abi
GUESTS_SERVED = $(shell tools/served.sh v1 v2)
UPSTREAM_SERVED = $(shell tools/served.sh compat)
MINORS_SERVED   = $(patsubst tools/kubernetes/%.mod,%,$(shell tools/served.sh $(foreach m,$(call other,$(MINORS)),$(call modfile,$(m)))))

LAST := $(lastword $(MINORS))

# What is tested on each minor, with -short: all that asks Kubernetes for more than objects. What takes longest is first, here and in LONGEST: go test
# begins in this order.
OF_MINORS := ./internal/simulator/controlplane ./deploy ./scheduler/... ./wasmhost/... ./internal/simulator/referee ./internal/whatif/... \
	./internal/guestcommand ./plugin ./internal/kubescheduler ./internal/naming ./internal/recorder ./internal/simulator/walkthrough ./internal/simulator/podgroups
LONGEST   := ./internal/simulator/page/browsertest ./simulator/command ./examples ./internal/simulator/controlplane ./scheduler ./internal/simulator

# Tests of this project wait more than they compute, and go vet is make lint's: it looks
# through all of Kubernetes. A third of what a control plane computes in a test is garbage collection.
TEST = GOGC=300 go test -vet=off -p $(shell expr 4 + $$(getconf _NPROCESSORS_ONLN)) -timeout 20m
# For tools/test.sh.
TESTED = $(TEST) -json

.DEFAULT_GOAL := help
.PHONY: FORCE
.DELETE_ON_ERROR:

help:
	@awk -F ':.*## ' ' \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  make %-28s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ See it work (needs Go only; uses the committed guests)

.PHONY: start-simulator-wasm
start-simulator-wasm: bin/simulator ## a cluster with the Wasm plugin, its page at localhost:3000; PLUGIN=v1|v2|native (v2), ARGS=…
	bin/simulator --plugin $(or $(PLUGIN),v2) $(ARGS)

.PHONY: start-simulator-extender
start-simulator-extender: bin/simulator ## the same, with the HTTP extender that is sent full nodes
	bin/simulator --plugin extender $(ARGS)

.PHONY: start-simulator-extender-names
start-simulator-extender-names: bin/simulator ## the same, with the HTTP extender that is sent names only
	bin/simulator --plugin extender-names $(ARGS)

.PHONY: start-simulator-extender-v2 # what start-simulator-extender-names was called
start-simulator-extender-v2: start-simulator-extender-names

.PHONY: start-simulator
start-simulator: bin/simulator ## the same, with no plugin: pick one at the page
	bin/simulator --plugin none $(ARGS)

.PHONY: reset-simulator
reset-simulator: bin/simulator ## makes the simulator that runs what it was at its start
	bin/simulator reset $(ARGS)

.PHONY: stop-simulator
stop-simulator: bin/simulator ## stops the simulator that runs
	bin/simulator stop $(ARGS)

.PHONY: walkthrough
walkthrough: ## its steps, checked, with every plugin variant; PLUGIN=… for one
	go test -vet=off $(LDFLAGS) -count=1 -v -run 'TestWalkthrough/^($(or $(PLUGIN),.*))$$' ./internal/simulator/walkthrough

##@ Build

.PHONY: build
build: bin/scheduler bin/extender bin/simulator bin/kubectl-regex bin/guest ## bin/scheduler, bin/extender, bin/simulator, bin/kubectl-regex, bin/guest; of KUBERNETES=… (1.36), 1.35 or 1.37

bin/%: FORCE
	@tools/build.sh $@ ./cmd/$* $(call identify,$(call minor,$(KUBERNETES)))

$(MINORS:%=bin/simulator-%): bin/simulator-%: FORCE # beside one another
	@tools/build.sh $@ ./cmd/simulator $(call identify,$(call minor,$*))

.PHONY: helm
helm: # bin/helm, Helm's own program, for deploy/chart; skipped loudly where its modules are not served
	@[ -z "$$(tools/served.sh tools/helm)" ] || { cd tools/helm && go build -ldflags '-s -w' -o ../../bin/helm helm.sh/helm/v4/cmd/helm; }

.PHONY: guests
guests: .tools/tinygo.stamp ## static/regex_v1.wasm and regex_v2.wasm, where their source or the toolchain has changed
	@tools/verify-guests.sh recorded 2>/dev/null && tools/build-guest.sh versions | cmp -s - tools/toolchain.txt || { \
		for guest in v1 v2; do tools/build-guest.sh $$guest static/regex_$$guest.wasm || exit; done; \
		tools/build-guest.sh versions >tools/toolchain.txt && tools/verify-guests.sh record; }

.PHONY: tools
tools: .tools/tinygo.stamp .tools/golangci-lint.stamp .tools/govulncheck.stamp ## TinyGo, golangci-lint and govulncheck in .tools/bin, as pinned in tools/; INSTALL=1 installs the packages they need

# The script knows whether there is anything to do, and leaves the stamp if not.
.tools/%.stamp: FORCE
	@tools/install.sh $*

##@ On a cluster (docs/deploy.md)

# Of another minor there are the programs in which Kubernetes runs, and their tag says so.
IMAGES   := scheduler simulator $(if $(call other,$(KUBERNETES)),,extender static-webserver)
REGISTRY ?= registry.example/regex-scheduling
TAG      ?= dev
SUFFIX   := $(addprefix -kubernetes-,$(call other,$(KUBERNETES)))
TAGGED    = $(TAG)$(SUFFIX)
ifndef ARCH
ARCH     := $(shell go env GOARCH)
endif

IMAGE_FOLDER ?= bin/images

.PHONY: images
images: $(IMAGES:%=$(IMAGE_FOLDER)/%$(SUFFIX).tar) ## OCI archives in bin/images; REGISTRY=… TAG=… KUBERNETES=… ARCH=… (this machine's; "amd64 arm64" makes images for both)

.SECONDEXPANSION:
$(IMAGES:%=$(IMAGE_FOLDER)/%$(SUFFIX).tar): $(IMAGE_FOLDER)/%$(SUFFIX).tar: $$(foreach a,$$(ARCH),bin/linux-$$(a)/$$*)
	@mkdir -p $(@D)
	@cd tools && go run ./image --name $(REGISTRY)/$*:$(TAGGED) $(addprefix --revision ,$(COMMIT)) --out $(abspath $@) $(abspath $^)

$(foreach a,$(ARCH),$(IMAGES:%=bin/linux-$(a)/%)): FORCE
	@GOOS=linux GOARCH=$(patsubst bin/linux-%/,%,$(@D)/) tools/build.sh $@ ./cmd/$(@F) $(call identify,$(call minor,$(KUBERNETES)),$(TAGGED))

.PHONY: release
release: ## dist/: what people install (docs/install.md); TAG=v… REGISTRY=… DOWNLOADS=… (where its files will be); CHARTS=oci://… also pushes the chart
	@tools/release.sh $(TAG) $(REGISTRY) $(or $(DOWNLOADS),https://registry.example/regex-scheduling/releases/$(TAG)) $(CHARTS)

.PHONY: sign
sign: ## signs dist/ by cosign, which must be on PATH; KEY=cosign.key FLAGS=…
	@tools/sign.sh $(KEY) $(FLAGS)

.PHONY: program
program: # PROGRAM for GOOS and GOARCH as OUT, for release.sh
	go build $(call identify,$(call minor,$(KUBERNETES)),$(TAG)) -o $(OUT) ./cmd/$(PROGRAM)

.PHONY: minors
minors: # for release.sh
	@echo $(MINORS)

##@ Check

.PHONY: check
check: languages lint verify-guests test test-minors verify-upstream ## lint, verify-guests, test, test-minors and verify-upstream: what CI runs

.PHONY: test
test: export PATH := $(CURDIR)/.tools/bin:$(PATH)
test: chromium prometheus helm ## every test but the upstream host's; says at its end what is missing here for some of them
	@tools/test.sh $(foreach m,$(MODULES),"$(m): cd $(m) && $(TESTED) $(LDFLAGS) $(if $(filter .,$(m)),$(LONGEST)) ./...") \
		$(foreach m,v1 v2,"$(m): [ -z \"\$$(tools/served.sh $(m))\" ] || { cd $(m) && $(TESTED) $(LDFLAGS) ./...; }")

# Not $(MAKE), with which make -n would run all of it.
.PHONY: test-minors
test-minors: helm ## on the other minors of Kubernetes, scheduler, host, native plugin, and simulator with its walkthrough; all predictions on the first
	@tools/test.sh "all predictions: SCENARIOS=all $(TESTED) $(LDFLAGS) ./internal/simulator/referee" \
		$(foreach m,$(MINORS_SERVED),"$(m): $(TESTED) -short $(call minor,$(m)) $(OF_MINORS)") \
		$(foreach m,$(filter-out $(LAST),$(MINORS_SERVED)),"$(m), snapshots: $(TESTED) $(call minor,$(m)) -run NeedALater ./internal/snapshot") \
		$(if $(filter 1.37,$(MINORS_SERVED)),"a cluster of 1.37: make bin/simulator-1.37 && SIMULATOR_OF_NEXT_MINOR=$(CURDIR)/bin/simulator-1.37 \
			$(TESTED) $(LDFLAGS) -run 'Scheduler|Rights|ChartIsInstalled|Default' ./deploy")

# What they differ in is printed, and written to bin/hunt, each as a scenario that is as small as it gets.
hunt = HUNT=$(1) SEED=$(2) FOUND=$(CURDIR)/bin/hunt $(TEST) $(call minor,$(KUBERNETES)) -timeout 3h -count=1 -v -run TestHunt ./internal/simulator/referee

.PHONY: hunt
hunt: ## predictions against a live cluster in N=200 generated cases, from SEED=1 on; KUBERNETES=…
	$(call hunt,$(or $(N),200),$(or $(SEED),1))

# What takes long and seldom finds something.
.PHONY: test-nightly
test-nightly: export NIGHTLY := 1
test-nightly: chromium ## each benchmark once, a page of 1,000 nodes and 5,000 pods, the soak of v2, READMEs that build Kubernetes, a hunt
	@tools/test.sh "benchmarks, large page, examples: $(TESTED) $(LDFLAGS) -run 'EveryVariant|ThousandNodes|EachExample|OfTheDocument' ./bench ./internal/simulator/page/browsertest ./examples" \
		"soak: $(TESTED) $(LDFLAGS) -run '^TestSoak' ./static -soak.cycles 1000000" \
		"hunt: $(call hunt,200,$(shell date +%Y%j)000)"

.PHONY: test-next
test-next: ## builds, vets and tests the same on NEXT=v1.38, the newest version of it, or NEXT=v1.38.0-rc.0
	@next=$$(tools/next.sh '$(NEXT)' $(LAST)) && { [ -z "$$next" ] || $(MAKE) on-next $$next; }

.PHONY: on-next
on-next: flags = -modfile=bin/next.mod -tags $(TAG_OF_NEXT) $(call versioned,$(NEXT))
on-next:
	go build $(flags) ./... && go vet $(flags) ./... && $(TEST) $(flags) $(OF_MINORS)

.PHONY: chromium
chromium: # for the tests of the page; without it they are skipped, and say so
	@command -v chromium >/dev/null || tools/apt.sh chromium || echo 'no Chromium: the tests of the page are skipped'

.PHONY: prometheus
prometheus: # for tests of the extender and the alerts, as chromium; unpacked, since the package would start a server
	@command -v promtool >/dev/null || [ -x .tools/bin/promtool ] || { mkdir -p .tools/bin && cd .tools && { \
		apt-get -q download prometheus >/dev/null 2>&1 && dpkg-deb --fsys-tarfile prometheus_*.deb | \
		tar -x -C bin --strip-components=3 ./usr/bin/prometheus ./usr/bin/promtool; rm -f prometheus_*.deb; [ -x bin/promtool ]; }; } || \
		echo 'no Prometheus, and it cannot be had here: tests of the extender and of the alerts are skipped'

.PHONY: languages
languages: # compilers for the tests of examples/, as chromium; TinyGo is in tools
	@[ -x /usr/bin/rustc ] && command -v wat2wasm wasm-ld >/dev/null || tools/apt.sh rustc libstd-rust-dev-wasm32 lld wabt || \
		echo 'no Rust for Wasm or no wabt: examples in these languages are not tried'

# wasmhost and what guests are made of have most of the locks: three times.
.PHONY: test-race
test-race: ## where goroutines share something, under the race detector (needs a C compiler; compiles Kubernetes again)
	@for packages in regex/... guest/...; do \
		(cd $${packages%%/*} && CGO_ENABLED=1 go test -race -vet=off ./...) || exit; done
	CGO_ENABLED=1 $(TEST) -race -count=3 ./wasmhost/... ./fetch/...
	CGO_ENABLED=1 $(TEST) -race ./plugin ./extender/... ./scheduler/... ./internal/kubescheduler ./internal/whatif/engine

.PHONY: fuzz
fuzz: FUZZTIME ?= 10s
fuzz: ## every fuzz target for FUZZTIME (10s)
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' */ | while IFS=: read -r file target; do \
		echo "$${file%/*}: $${target#func }"; \
		(cd "$${file%/*}" && go test -vet=off $(LDFLAGS) -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) .) || exit; \
	done

.PHONY: vulncheck
vulncheck: .tools/govulncheck.stamp ## known vulnerabilities in what our programs call, by the Go project's database
	@tools/vulncheck.sh

.PHONY: verify-guests
verify-guests: ## the committed guests against the record, and against a rebuild where TinyGo can be had
	tools/verify-guests.sh

.PHONY: verify-upstream
verify-upstream: ## the upstream host does what the transcripts of abi/ say of it, where it is available
	$(if $(UPSTREAM_SERVED),cd compat && $(TEST) -count=1 ./...)

.PHONY: lint
lint: ## golangci-lint (.golangci.yml), words (CONTRIBUTING.md), go mod tidy; go vet on the other minors
	@tools/words.sh
	@[ -z "$$(tools/served.sh tools/lint)" ] || $(MAKE) golangci-lint
	@for module in $(MODULES) $(GUESTS_SERVED); do echo "$$module: go mod tidy"; (cd $$module && go mod tidy -diff) || exit; done
	cd v2 && go vet ./... # without what only TinyGo compiles
	$(foreach m,$(MINORS_SERVED),go mod tidy -e -diff -modfile=$(call modfile,$(m)) && go vet $(call minor,$(m)) ./... &&) true # -e: this minor may lack what files of others import

.PHONY: golangci-lint
golangci-lint: .tools/golangci-lint.stamp # for lint, where its modules are available
	@.tools/bin/golangci-lint fmt --diff || { echo 'not formatted; run: make format' >&2; exit 1; }
	@for module in $(MODULES) $(GUESTS_SERVED) $(UPSTREAM_SERVED); do \
		echo "$$module: golangci-lint"; (cd $$module && $(CURDIR)/.tools/bin/golangci-lint run ./...) || exit; done

##@ Measure

# What is measured is a filter, as -bench of go test takes it. The numbers are in
# bin/bench.txt, and benchstat shows SHOW of them (docs/performance.md says how to read it).
BENCH ?=
FIGURES = -filter '.unit:(cpu-sec/op OR cpu-sec/pod OR pods/s OR tries)'
SHOW    = $(FIGURES) -row .name,/case,/nodes,/plugin
empty :=
comma := ,
guests = $(subst $(empty) ,$(comma),$(abspath $(subst $(comma), ,$(GUESTS))))
define run-bench
	@cd bench && ../bin/bench.test -test.run '^$$' -test.timeout 0 $(1) $(if $(GUESTS),-guests '$(guests)') \
		>../bin/bench.txt || { grep -A9 FAIL ../bin/bench.txt >&2; exit 1; }
	@go tool -modfile=tools/go.mod benchstat -ignore /round $(SHOW) $(ARGS) bin/bench.txt
endef

.PHONY: bench
bench: bin/bench.test ## every plugin variant on the same work, takes a while; GUESTS=a.wasm,b.wasm, BENCH=… as -bench, ARGS=…
	$(call run-bench,-test.bench '$(or $(BENCH),Cycle|Start|Scheduler)' -test.benchtime 10ms -rounds 60 -whole-rounds 9)

# The targets of the host and v2, and nothing else.
.PHONY: bench-targets
bench-targets: BENCH = Cycle///plugin=(v1|v2|v2-asked|v2-asked-trusted|native)$$|Scheduler///plugin=(none|v2|native)$$
bench-targets: SHOW = $(FIGURES) -row .name,/case,/nodes -col '/plugin@(none native v2 v2-asked v2-asked-trusted v1)'
bench-targets: bench ## the targets of the host and v2, and nothing else

.PHONY: bench-quick
bench-quick: bin/bench.test ## a first look, under two minutes on a quiet machine
	$(call run-bench,-test.bench '$(or $(BENCH),Cycle/case=(prefix|new|none)|Start|Scheduler/case=all//plugin=(none|v2|native)$$)' \
		-test.benchtime 5ms -rounds 3 -pods 300)

.PHONY: bench-extender
bench-extender: BENCH = Cycle/case=(prefix|none)//plugin=extender
bench-extender: bench ## the extender with full nodes, and with names

.PHONY: bench-whatif
bench-whatif: bin/bench.test ## what-ifs on examples/cluster; CLUSTERS=1000/3000,5000/50000; OPENB=folder of examples/openb's files
	cd bench && ../bin/bench.test -test.run '^$$' -test.bench WhatIf -test.benchtime 1x -test.timeout 0 -clusters $(or $(CLUSTERS),1000/3000) -openb '$(abspath $(OPENB))'
	@$(if $(OPENB),,echo 'The public trace was skipped: OPENB=FOLDER says where the files are that examples/openb/README.md names')

bin/bench.test: FORCE
	go test $(LDFLAGS) -c -o $@ ./bench

.PHONY: soak
soak: ## a million differing pods through v2, some minutes
	go test $(LDFLAGS) -timeout 0 -v -count 1 -run '^TestSoak' ./static -soak.cycles 1000000 $(ARGS)

.PHONY: screenshots
screenshots: chromium ## pictures of the page, into docs/screenshots
	SCREENSHOTS=$(CURDIR)/docs/screenshots go test $(LDFLAGS) -count=1 -run Screenshot ./internal/simulator/page/browsertest

##@ Change

.PHONY: format
format: .tools/golangci-lint.stamp ## formats every Go file, by gofumpt
	@.tools/bin/golangci-lint fmt

.PHONY: clean
clean: ## removes bin/ and .tools/
	rm -rf bin .tools
