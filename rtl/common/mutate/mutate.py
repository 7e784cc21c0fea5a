"""Seeded bugs: each is put into a copy of the circuit, and the tests of it have to fail there.

    mutate.py [--list] [NAME...]

mutations.toml and resets.toml name for each one the file, a piece of its text that occurs exactly once, what is there instead, and what
breaks by that. `shape` is the parameter set of the C++ harness (bbq/dv/shapes.py) that has to find it here. One that no simulation finds
has `proof` instead: the proof of bbq/formal/induct.py that must not succeed with it, which bbq/formal/bugs.py looks at.
A mutation that cannot be put in is an error, as is one with which the circuit does not build: a bug that a compiler finds says nothing
about the tests.

All mutations of a shape are one program, in which copies of the circuit are side by side, and +mutant=N says which of them is at the ports.
Number 0 is without a bug, and has to pass. They are in build/mutate/SHAPE; the sources are never changed."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import BUILD, RTL, mutations, say  # noqa: E402

sys.path.insert(0, str(RTL / "bbq" / "dv"))
import harness  # noqa: E402
from shapes import HARNESS  # noqa: E402

OUT = BUILD / "mutate"
# Operations after a power-up, with its seed: one run for what comes late, and some for what depends on the power-up. 50,000 in all.
RUNS = {1: 40_000, **dict.fromkeys(range(2, 12), 1000)}

Mutation = dict[str, str]


def mutated(text: str, mutation: Mutation) -> str:
    if text.count(mutation["old"]) != 1:
        raise SystemExit(f"{mutation['name']}: its text occurs {text.count(mutation['old'])} times in {mutation['file']}, not once")
    return text.replace(mutation["old"], mutation["new"])


def copy(number: int, mutation: Mutation | None) -> str:
    """All modules and packages of the circuit, with a bug or without, and with the number behind their names."""
    files = list(map(Path, harness.sources()))
    texts = {str(path.relative_to(RTL)): path.read_text() for path in files}
    if mutation:
        texts[mutation["file"]] = mutated(texts[mutation["file"]], mutation)
    names = re.compile(rf"\b({'|'.join(path.stem for path in files)})\b")
    return names.sub(rf"\1_{number}", "".join(texts.values()))


def choice(copies: int) -> str:
    """A module with the circuit's name and ports, in which the copies are."""
    source = (RTL / "bbq/rtl/tp_bbq.sv").read_text()
    header = source[source.index("module tp_bbq\n") : source.index("\n);\n") + 4]
    ports = re.findall(r"^  (input|output) +logic +((?:\[\S+\])*) *(\w+),?$", header, re.MULTILINE)
    outputs = [(size, name) for direction, size, name in ports if direction == "output"]
    generics = ", ".join(f".{name}({name})" for name in re.findall(r"^  parameter .*?(\w+) =", header, re.MULTILINE))
    inputs = "".join(f".{name}, " for direction, _, name in ports if direction == "input")
    lines = [
        header.replace("tp_bbq_pkg", "tp_bbq_pkg_0"),
        "  typedef struct packed {", *(f"    logic {size} {name};" for size, name in outputs), "  } outputs_t;",
        f"  outputs_t [{copies - 1}:0] outputs;", "  int unsigned mutant;",
        '  initial if (!$value$plusargs("mutant=%d", mutant)) mutant = 0;',
        *(f"  assign {name} = outputs[mutant].{name};" for _, name in outputs),
    ]  # fmt: skip
    for number in range(copies):
        to = ", ".join(f".{name}(outputs[{number}].{name})" for _, name in outputs)
        lines.append(f"  tp_bbq_{number} #({generics}) i_{number} ({inputs}{to});")
    return "\n".join([*lines, "endmodule\n"])


def simulated(program: Path, number: int) -> str:
    """What is wrong with a copy, if it shows in the runs."""
    for seed, operations in RUNS.items():
        command = [program, "--ops", str(operations), "--seed", str(seed), f"+mutant={number}"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = result.stdout.strip()
        if result.returncode not in (0, 1) or ("FAILED" in said) != (result.returncode == 1):
            raise SystemExit(f"{program}: ended with {result.returncode}: {said[-2000:]}")
        if result.returncode == 1:
            return f"seed {seed}, {said.removeprefix('FAILED ')}"
    return ""


def try_out(shape: str, chosen: list[Mutation]) -> list[str]:
    """What is wrong with the mutations of a shape: which of them were not caught."""
    where = OUT / shape
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    source = where / "tp_bbq.sv"
    copies: list[Mutation | None] = [None, *chosen]
    source.write_text("".join(copy(number, mutation) for number, mutation in enumerate(copies)) + choice(len(copies)))
    # A bug may leave signals unused, which only is a warning here. Most of the time goes into compiling, for runs that mostly are over
    # after some hundred operations.
    (parameters,) = [one for one in HARNESS if one.name == shape]
    program = harness.compiled(parameters, where, [str(source)], ["-Wno-fatal", *harness.generics(parameters)], "-O0")
    problems = []
    for number, mutation in enumerate(copies):
        said = simulated(program, number)
        if mutation is None and said:
            problems.append(f"{shape}: fails without a bug: {said}")
        elif mutation is not None and not said:
            problems.append(f"{mutation['name']}: not caught: {mutation['breaks']}")
        elif mutation is not None:
            say(f"  caught {mutation['name']}: {said[:120]}")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="the mutations, what they break, and what finds them")
    arguments = parser.parse_args()
    known = mutations()
    if arguments.list:
        for mutation in known.values():
            by = f"simulation, {mutation['shape']}" if "shape" in mutation else f"proof, {mutation['proof']}"
            say(f"{mutation['name']}: {mutation['breaks']} [{by}]")
        return
    if unknown := [name for name in arguments.names if name not in known]:
        raise SystemExit(f"no such mutation: {', '.join(unknown)}")
    chosen = [known[name] for name in arguments.names] or list(known.values())
    by_shape = [mutation for mutation in chosen if "shape" in mutation]
    groups: dict[str, list[Mutation]] = {}
    for mutation in by_shape:
        groups.setdefault(mutation["shape"], []).append(mutation)
    # A build and a run are one process each; two at a time keep two cores busy.
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        problems = [problem for some in pool.map(try_out, groups, groups.values()) for problem in some]
    # Those that a proof finds have to fit the sources all the same.
    for mutation in chosen:
        mutated((RTL / mutation["file"]).read_text(), mutation)
    if problems:
        raise SystemExit("\n".join(problems))
    say(f"rtl mutate: {len(by_shape)} seeded bugs, all caught; {len(chosen) - len(by_shape)} more are for a proof to find")


if __name__ == "__main__":
    main()
