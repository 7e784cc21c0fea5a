"""Seeded bugs: each is put into a copy of the circuit, and the tests of it have to fail there.

    mutate.py [--list] [NAME...]

mutations.toml and resets.toml name for each one the file, a piece of its text that occurs exactly once, what is there instead, what
breaks by that, and the parameter set of the C++ harness (bbq/dv/shapes.py) that has to find it. A mutation that cannot be put in is an error, as is one
with which the circuit does not build: a bug that a compiler finds says nothing about the tests. Before anything else, the same
parameter sets have to pass without a bug.

Copies are in build/mutate/NAME; the sources are never changed."""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import BUILD, RTL, mutations, say  # noqa: E402

OUT = BUILD / "mutate"
OPERATIONS = 50_000


@dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    old: str
    new: str
    breaks: str
    shape: str


def copy(name: str) -> Path:
    """What the harness needs, in a directory of its own."""
    where = OUT / name
    shutil.rmtree(where, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "build")
    for part in ("common/rtl", "bbq/rtl", "bbq/dv"):
        shutil.copytree(RTL / part, where / part, ignore=ignored)
    # Most of the time goes into compiling, for a run that mostly is over after some hundred operations.
    builder = where / "bbq" / "dv" / "harness.py"
    text = builder.read_text()
    if "-O1" not in text:
        raise SystemExit(f"{builder}: no -O1 in it to be replaced")
    builder.write_text(text.replace("-O1", "-O0"))
    return where


def built(where: Path, shape: str) -> Path:
    return where / "build" / "bbq-harness" / shape


def lend(where: Path, shape: str) -> None:
    """What is compiled already, and is the same with a bug: Verilator's library, and the harness, which sees nothing but the ports."""
    target = built(where, shape)
    target.mkdir(parents=True)
    for name in ("harness.o", "verilated.o", "verilated_threads.o"):
        # With a time of now: make takes it as newer than its source.
        shutil.copyfile(built(RTL, shape) / name, target / name)


def harness(where: Path, shape: str, log: Path) -> tuple[bool, str]:
    """Builds and runs the harness of a copy; whether it passed, and what it said."""
    command = [sys.executable, "bbq/dv/harness.py", "--ops", str(OPERATIONS), "--only", shape]
    with log.open("w") as file:
        status = subprocess.run(command, cwd=where, stdout=file, stderr=subprocess.STDOUT).returncode
    said = log.read_text()
    if "does not build" in said:
        raise SystemExit(f"{where.name}: {said[-3000:]}")
    return status == 0, said


def try_out(mutation: Mutation) -> str | None:
    """What is wrong, if something is: it was not caught, or could not be put in."""
    where = copy(mutation.name)
    path = where / mutation.file
    text = path.read_text()
    if text.count(mutation.old) != 1:
        return f"{mutation.name}: its text occurs {text.count(mutation.old)} times in {mutation.file}, not once"
    path.write_text(text.replace(mutation.old, mutation.new))
    lend(where, mutation.shape)
    passed, said = harness(where, mutation.shape, where / "log")
    ports = [(built(place, mutation.shape) / "Vtp_bbq.h").read_text() for place in (RTL, where)]
    if ports[0] != ports[1]:
        return f"{mutation.name}: the circuit's ports are others, and the harness was compiled for those without the bug"
    if passed:
        return f"{mutation.name}: not caught: {mutation.breaks}"
    difference = next((line for line in said.splitlines() if "cycle" in line or "expected" in line), "it failed")
    say(f"  caught {mutation.name}: {difference.strip()[:120]}")
    shutil.rmtree(where)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="the mutations, and what they break")
    arguments = parser.parse_args()
    known = {name: Mutation(**entry) for name, entry in mutations().items()}
    if arguments.list:
        for mutation in known.values():
            say(f"{mutation.name}: {mutation.breaks}")
        return
    if unknown := [name for name in arguments.names if name not in known]:
        raise SystemExit(f"no such mutation: {', '.join(unknown)}")
    OUT.mkdir(parents=True, exist_ok=True)
    chosen = [known[name] for name in arguments.names] or list(known.values())
    # A build and a run are one process each; two at a time keep two cores busy.
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        shapes = sorted({mutation.shape for mutation in chosen})
        unchanged = pool.map(lambda shape: harness(RTL, shape, OUT / f"{shape}.log"), shapes)
        for shape, (passed, said) in zip(shapes, unchanged, strict=True):
            if not passed:
                raise SystemExit(f"{shape}: fails without a bug:\n{said[-2000:]}")
        problems = [problem for problem in pool.map(try_out, chosen) if problem]
    if problems:
        raise SystemExit("\n".join(problems))
    say(f"rtl mutate: {len(chosen)} seeded bugs, all caught")


if __name__ == "__main__":
    main()
