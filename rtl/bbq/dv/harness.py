"""Builds the C++ harness for every set of parameters, and runs it.

Usage: harness.py [--ops N] [--seed S] [--only TEXT] [--netlist FILE...]: N operations for each set whose name contains TEXT. With a netlist,
instead of the circuit's sources, TEXT is the whole name of its set.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shapes import HARNESS, Shape

HERE = Path(__file__).resolve().parent
RTL = HERE.parent.parent

sys.path.insert(0, str(RTL / "common"))
from manifest import BUILD  # noqa: E402
from runtime import ONE_FILE, keep, lend  # noqa: E402

# Of the harness, and of what is Verilator's own.
FLAGS = ["-O1", "-std=c++17"]
LIBRARY = "OPT_SLOW=-O0 OPT_GLOBAL=-O1"


def sources() -> list[str]:
    files = [*sorted((RTL / "common" / "rtl").glob("*.sv")), *sorted((RTL / "bbq" / "rtl").glob("*.sv"))]
    own = [path for path in files if path.parent.parent.name != "bbq" or not path.stem.startswith("tp_bbq_") or path.stem in PARTS]
    return [str(path) for path in sorted(own, key=lambda path: not path.stem.endswith("_pkg"))]


# Of the modules in rtl/bbq/rtl, those that tp_bbq is made of.
PARTS = {"tp_bbq_pkg", "tp_bbq_fetch", "tp_bbq_front", "tp_bbq_level", "tp_bbq_lists"}


def build(shape: Shape) -> Path:
    """The program for a set of parameters. Nothing is done if it is newer than all of its sources."""
    folder = BUILD / "bbq-harness" / shape.name
    program = folder / "harness"
    inputs = [*map(Path, sources()), HERE / "harness.cpp", HERE / "shapes.py"]
    if program.exists() and all(path.stat().st_mtime < program.stat().st_mtime for path in inputs):
        return program
    return compiled(shape, folder, sources(), ["-Wall", *generics(shape)], "-O1")


def generics(shape: Shape) -> list[str]:
    """The parameters as Verilator's options."""
    return [f"-G{name}={value}" for name, value in shape.generics.items()]


def compiled(shape: Shape, folder: Path, files: list[str], options: list[str], level: str) -> Path:
    """The program for any sources of tp_bbq that have the ports of a set of parameters, with the compiler's `level` for the circuit."""
    macros = {
        "WIDTH": shape.width,
        "LEVELS": shape.levels,
        "ELEMENTS": shape.elements,
        "PARTITIONS": shape.partitions,
        "DATA_BITS": shape.data_bits,
        "LATENCY": shape.latency,
    }
    folder.mkdir(parents=True, exist_ok=True)
    # The macros are the harness's: Verilator's library does not see them.
    flags = f"harness {FLAGS} {LIBRARY}"
    lend(folder, flags)
    command = [
        "verilator", "--cc", "--exe", "--build", "-O3", *ONE_FILE, "--x-initial", "unique", "--x-assign", "unique", *options,
        "--top-module", "tp_bbq", "--Mdir", str(folder), "-o", "harness",
        "-CFLAGS", " ".join([*FLAGS, *(f"-D{name}={value}" for name, value in macros.items())]),
        "-MAKEFLAGS", f"OPT_FAST={level} {LIBRARY}",
        *files, str(HERE / "harness.cpp"),
    ]  # fmt: skip
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{folder.name} does not build:\n{result.stdout[-4000:]}")
    keep(folder, flags)
    return folder / "harness"


def run(shape: Shape, ops: int, seed: int, netlist: list[str]) -> tuple[bool, str]:
    """Builds and runs; whether every response was right, and what was said."""
    # A tool's Verilog has much of what Verilator warns of.
    program = compiled(shape, BUILD / "bbq-netlist" / shape.name, netlist, ["-Wno-fatal"], "-O1") if netlist else build(shape)
    command = [program, "--ops", str(ops), "--seed", str(seed)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode == 0, result.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--netlist", nargs="+", default=[])
    arguments = parser.parse_args()
    is_asked = (lambda name: name == arguments.only) if arguments.netlist else (lambda name: arguments.only in name)
    shapes = [shape for shape in HARNESS if is_asked(shape.name)]
    if not shapes:
        raise SystemExit(f"no set of parameters has {arguments.only!r} in its name")
    failed = []
    # A build and a run are one process each.
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        results = pool.map(lambda shape: run(shape, arguments.ops, arguments.seed, arguments.netlist), shapes)
        for shape, (right, said) in zip(shapes, results, strict=True):
            print(f"{shape.name}\n{said}", end="", flush=True)
            if not right:
                failed.append(shape.name)
    if failed:
        raise SystemExit(f"failed: {' '.join(failed)}")
    print(f"rtl bbq: {len(shapes)} parameter sets, {arguments.ops} operations each: every response as the model's", flush=True)


if __name__ == "__main__":
    main()
