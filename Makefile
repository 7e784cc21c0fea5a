# make           build the whole command, with what meets Linux: target/release/trueplane
# make demo      five questions, answered on bundled samples
# make install   the command, fully optimised, into ~/.cargo/bin; with PREFIX=/usr/local, and manual pages and completions, there
# make dist      what a release publishes, in target/packages: a static binary in an archive and a Debian package, checked (packaging/README.md)
# make wheel     the Python package with the command in it, in target/packages, tried in an environment without Rust
# make check     the inner loop: format, lints, unit tests of what changed
# make test      everything that protects users: format, lints, docs, tests, what the documents show
# make test-all  the same and what takes long: linear programmes, thread orders, circuits, a short fuzz run
# make test-kubernetes  `fair admit` on a real control plane with a thousand simulated nodes, built from Go modules the first time
# make oracles   the windows of Linux's and ns-3's TCP senders beside ours, on a quiet machine
# make browser   `cache compare` as one page that works offline: target/browser/trueplane.html (browser/README.md)
# make site      the documentation as web pages, at target/site/index.html
# make bench     how fast, side by side (minutes)
# make instructions  count the instructions of the hot paths, and write docs/instructions.md
# make semver    what changed in public interfaces since the commit BASE that breaks their users
# make fuzz      a minute for every fuzz target
# make swarm     studies with drawn workloads and parameters, for SWARM_SECONDS (an hour); SWARM_SEED begins elsewhere
# make stalls    the tests of the HTTP cache and of `fair admit` while all their processes stop for seconds at a time, in STALLS runs (3), as root
# make golden    write anew what is generated or shown: docs/reference, snapshots, the output in README and guides (commit first)
# CONTRIBUTING.md says how long each takes, and what its parts are.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
FUZZ_TARGETS := access_log cache_certificate cloudfront columns csv fair_demands fair_jobs fair_kubernetes fair_kueue fair_slurm fair_snapshot fair_swf http_rules json_log limit_bpf limit_classes limit_frame lis network_tables oracle_general pcap pqueue proxy_disk spray_packet spray_rules surge_jobs surge_reassembly surge_replay surge_rules twitter
FUZZ_SECONDS ?= 60
# For `make fuzz`: other inputs each time. `-seed=1` has the same ones again.
FUZZ_FLAGS ?=
# What other programs may depend on, without its features.
LIBRARIES := cache fair limit network offload pqueue proxy sched spray surge
# What is left out of the first build is in the tests.
TESTED := --features trueplane/live,trueplane-surge/pcre2
# Property tests draw the same cases in each run, so that only a change makes one fail. Without `make`, `cargo test` draws others.
export PROPTEST_RNG_SEED ?= 1

.PHONY: build demo install install-build dist wheel setup-dist check golden test test-long test-all setup-build setup-test setup-long lint doc site unit commands pages browser browser-test lp loom rtl instructions instructions-check msrv publishable semver test-kubernetes oracles fuzz kills fuzz-smoke swarm stalls bench

build: setup-build
	cargo build --release --features live

demo:
	cargo run --release -- demo

# As root (`sudo make install PREFIX=/usr/local`) nothing is compiled if `make install-build` has run before.
install: install-build
	$(if $(PREFIX),scripts/stage "$${CARGO_TARGET_DIR:-target}/dist/trueplane" "$(DESTDIR)$(PREFIX)",\
		cargo install --locked --profile dist --features live --path crates/cli)

install-build: setup-build
	cargo build --locked --profile dist --features live

dist: setup-dist
	packaging/dist

wheel: setup-dist
	packaging/wheel

check:
	scripts/check

golden: setup-test
	GOLDEN=write cargo test -p trueplane $(TESTED) --bin trueplane reference
	INSTA_UPDATE=always cargo test -p trueplane-study -p trueplane $(TESTED) --features trueplane-study/render --test cli --lib -- printed told columns
	GOLDEN=write cargo test -p trueplane $(TESTED) --test cli picture
	PYTHONPATH=python python/.venv/bin/python -m trueplane._stubs
	PYTHONPATH=python python/.venv/bin/python -m trueplane._reference
	GOLDEN=write $(MAKE) commands

test: setup-test
	scripts/parts lint doc unit commands

test-long: setup-long
	scripts/parts msrv publishable pages browser-test lp loom rtl instructions-check kills fuzz-smoke

test-all: test test-long

setup-build setup-test setup-long setup-dist: setup-%:
	scripts/setup $*

lint:
	cargo fmt --all --check
	cargo xtask gen --check
	cargo clippy --workspace --all-targets $(TESTED) -- -D warnings
	cargo clippy $(LIBRARIES:%=-p trueplane-%) --lib -- -D warnings

doc: site
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items $(TESTED)

# The pages of docs/ as a site, at target/site. A link to a page, a file or a heading that is not there fails it.
site:
	@status=0; scripts/venv site || status=$$?; \
	if [ $$status -eq 77 ]; then exit 0; elif [ $$status -ne 0 ]; then exit $$status; fi; \
	NO_MKDOCS_2_WARNING=1 site/.venv/bin/mkdocs build --strict

unit:
	cargo test --workspace $(TESTED)

# What README, CONTRIBUTING and the guides show, typed into a shell in a clean checkout, where the command is built as a newcomer builds it.
# This and `pages` ask for the workspace, though only one crate has such a test: the features of dependencies are then those of `unit`, and
# what that compiled is used again.
commands:
	cargo test --workspace $(TESTED) --test documents

# The page of every study, in a browser. `make unit` has this test, too, and skips it where there is no browser.
pages:
	cargo test --workspace $(TESTED) --test cli pages

# Says in one line what is missing, if something is.
browser:
	@status=0; browser/build || status=$$?; if [ $$status -ne 77 ]; then exit $$status; fi

# That page is given logs in a browser, and has to say what the command says.
browser-test: browser
	cargo test --workspace $(TESTED) --test cli browser -- --ignored

# Exact linear programmes, whose solver is minutes of C++. Of tests, only the programs that have such ones are compiled.
lp:
	cargo clippy -p trueplane-cache -p trueplane-offload -p trueplane --all-targets --features trueplane/lp -- -D warnings
	cargo test -p trueplane-cache -p trueplane-offload -p trueplane --features trueplane/lp --lib --test cache --test cli -- \
		lp:: exact_optimum bound

# With a target folder of its own: everything is compiled with other flags.
loom:
	RUSTFLAGS="--cfg loom" cargo test -p trueplane-spray --lib --release --target-dir "$${CARGO_TARGET_DIR:-target}/loom" table::every_order
	RUSTFLAGS="--cfg loom" cargo test -p trueplane-cache --lib --release --target-dir "$${CARGO_TARGET_DIR:-target}/loom" concurrent::every_order

# Circuits: lints, simulations, proofs, seeded bugs, and the bundles that `pqueue rtl` writes. Says so in one line and skips them where a
# tool is missing.
rtl:
	$(MAKE) --no-print-directory -C rtl test
	cargo test --workspace $(TESTED) --test pqueue -- --ignored --nocapture bundles

# The oldest Rust that Cargo.toml promises compiles the command with all that it can have, and the libraries with nothing but themselves.
msrv:
	@oldest=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); \
	if command -v rustup >/dev/null; then \
		rustup run $$oldest rustfmt --version >/dev/null 2>&1 || rustup toolchain install $$oldest --profile minimal --component rustfmt; \
		cargo +$$oldest check --quiet --target-dir "$${CARGO_TARGET_DIR:-target}/msrv" -p trueplane $(TESTED); \
		cargo +$$oldest check --quiet --target-dir "$${CARGO_TARGET_DIR:-target}/msrv" $(LIBRARIES:%=-p trueplane-%); \
	else \
		echo "skipped: Rust $$oldest (needs rustup: https://rustup.rs)"; \
	fi

# Packs every crate that is published, in order, and compiles none of them: `cargo publish --workspace --dry-run` does, and takes minutes.
publishable:
	@if cargo publish --help | grep -e --workspace >/dev/null; then \
		cargo publish --workspace --dry-run --no-verify --allow-dirty --quiet; \
	else \
		echo "skipped: packing for crates.io (needs cargo 1.90 or later)"; \
	fi

# The controller of `trueplane fair admit` on a real control plane. The first time it builds Kubernetes, which takes about twenty minutes.
test-kubernetes:
	scripts/kubernetes-test

# Changes of public interfaces since BASE that break their users: make semver BASE=v0.1.0
semver:
	$(if $(BASE),,$(error say since which commit: make semver BASE=v0.1.0))
	cargo semver-checks --version >/dev/null 2>&1 || cargo install --locked cargo-semver-checks
	cargo semver-checks --default-features --baseline-rev $(BASE) $(LIBRARIES:%=-p trueplane-%) -p trueplane-link -p trueplane-units

# A cache is killed a hundred times while it writes to its disk, and is opened with a million objects, which prints how long that takes.
kills:
	TRUEPLANE_KILLS=100 cargo test --workspace $(TESTED) --test proxy -- --nocapture kills_under_load
	cargo test --workspace $(TESTED) --lib -- --ignored --nocapture a_million_objects

# The windows of Linux's senders beside ours, in namespaces: on a quiet machine, as root. A minute, and more if packets were late.
# Then those of ns-3's senders, where it is installed (apt-get install --no-install-recommends libns3-dev g++).
oracles:
	cargo test -p trueplane-network --test oracles -- --ignored --nocapture --test-threads=1

# Fails where a hot path takes more than 2 % more or fewer instructions than docs/instructions.md says.
instructions-check:
	cargo run --quiet --profile bench -p trueplane-instructions -- --check

instructions: setup-long
	cargo run --quiet --profile bench -p trueplane-instructions

# `unit` replays the seeds; this looks a little further wherever there is a nightly toolchain, which libFuzzer needs. It begins at the
# same number each time: whoever changes something else is not to meet what a fuzzer may find on any day. Less optimised, it
# compiles in half the time, and most targets see as many inputs in 8 s as they otherwise do in 3 s or more.
fuzz-smoke:
	@if cargo +nightly --version >/dev/null 2>&1; then \
		CARGO_PROFILE_RELEASE_OPT_LEVEL=1 $(MAKE) --no-print-directory fuzz FUZZ_SECONDS=8 FUZZ_FLAGS=-seed=1; \
	else \
		echo "skipped: fuzzing (needs the nightly toolchain: rustup toolchain install nightly); its seeds are still replayed"; \
	fi

# One program has all targets, so that one is linked instead of dozens; two run at a time. For lints libFuzzer is not compiled: /dev/null is
# said to be its library, and nothing is linked.
fuzz:
	CUSTOM_LIBFUZZER_PATH=/dev/null cargo clippy --manifest-path fuzz/Cargo.toml -- -D warnings
	cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
	cargo +nightly fuzz build --fuzz-dir fuzz every
	@printf '%s\n' $(FUZZ_TARGETS) | xargs -P 2 -I {} bash -c '\
		mkdir -p fuzz/corpus/{} fuzz/artifacts/{}; \
		echo "fuzzing {} for $(FUZZ_SECONDS) s"; \
		FUZZ_TARGET={} cargo +nightly fuzz run --fuzz-dir fuzz every fuzz/corpus/{} crates/*/fuzz/seeds/{} -- \
			-artifact_prefix=fuzz/artifacts/{}/ -max_total_time=$(FUZZ_SECONDS) $(FUZZ_FLAGS) \
			> fuzz/corpus/{}.log 2>&1 || { echo "{} failed:"; tail -n 60 fuzz/corpus/{}.log; exit 1; }'

# Other numbers than those of `unit`, and other ones each time. A failure prints the number that repeats it.
swarm:
	SWARM_SECONDS=$${SWARM_SECONDS:-3600} SWARM_SEED=$${SWARM_SEED:-$$(date +%s)} \
		cargo test -p trueplane $(TESTED) --bin trueplane swarm -- --nocapture

# A test that fails here measures time where it should wait, and will fail one day on a busy machine.
stalls:
	cargo test -p trueplane-proxy -p trueplane-kubernetes --tests --no-run
	for run in $$(seq $${STALLS:-3}); do scripts/stalls cargo test -p trueplane-proxy -p trueplane-kubernetes --tests --no-fail-fast; done

bench:
	cargo bench --workspace --features trueplane/live --bench '*'
	cd crates/cache/rivals && cargo run --release
