# make          build the command
# make demo     the main job on the bundled trace
# make test     everything that must hold: format, lints, tests, docs, a short fuzz run
# make bench    how fast, side by side (minutes)
# make rtl      the circuits alone (rtl/README.md has more)
# make loom     threads that share memory, in every order that there is
# make fuzz     a minute for every fuzz target
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
FUZZ_TARGETS := access_log cache_certificate columns csv fair_demands fair_jobs fair_snapshot limit_bpf limit_classes limit_frame lis oracle_general pcap pqueue spray_packet surge_jobs surge_reassembly surge_rules twitter
FUZZ_SECONDS ?= 60
# What takes long to compile is left out of `build`, and everything that must hold is held to it.
FEATURES := --features trueplane/lp,trueplane/pcre2
# In the profile of the tests, so that what is C and C++ is compiled once for all of them.
CHECKED := $(FEATURES) --profile test

.PHONY: build demo test setup lint unit loom rtl doc fuzz fuzz-smoke bench

build: setup
	cargo build --release --features live

demo: setup
	cargo run --release -- cache compare examples/cdn-200k.csv.zst --latency 100ms --capacity 5%

test: setup lint doc unit loom rtl fuzz-smoke

setup:
	./scripts/setup

lint:
	cargo fmt --all --check
	cargo xtask gen --check
	cargo clippy --workspace --all-targets $(CHECKED) -- -D warnings
	cargo clippy --manifest-path fuzz/Cargo.toml -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items $(CHECKED)

unit:
	cargo test --workspace $(FEATURES)

# With a target folder of its own: everything is compiled with other flags.
loom:
	RUSTFLAGS="--cfg loom" cargo test -p trueplane-core --lib --release --target-dir "$${CARGO_TARGET_DIR:-target}/loom" spray::table::every_order

# Circuits: lints, simulations, proofs, seeded bugs. Says so in one line and skips them where a tool is missing.
rtl:
	$(MAKE) --no-print-directory -C rtl test

# `unit` replays the seeds; this looks a little further wherever there is a nightly toolchain, which libFuzzer needs.
fuzz-smoke:
	@if cargo +nightly --version >/dev/null 2>&1; then \
		$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=5; \
	else \
		echo "skipped: fuzzing (needs the nightly toolchain: rustup toolchain install nightly); its seeds are still replayed"; \
	fi

fuzz:
	cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/corpus/$$target; \
		echo "fuzzing $$target for $(FUZZ_SECONDS) s"; \
		cargo +nightly fuzz run --fuzz-dir fuzz $$target fuzz/corpus/$$target fuzz/seeds/$$target -- -max_total_time=$(FUZZ_SECONDS) \
			> fuzz/corpus/$$target.log 2>&1 || { tail -n 60 fuzz/corpus/$$target.log; exit 1; }; \
	done

bench:
	cargo bench -p trueplane-benches
