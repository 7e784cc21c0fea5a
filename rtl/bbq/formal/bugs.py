"""Shows that the proofs can fail: with a bug in a copy of the circuit, induction has to refuse, and the check from reset has to find
a run that goes wrong.

The bugs are some of those of common/mutate that show with the parameters of the proof w2_d2_n3. Copies are in
build/bbq-formal/bugs; the sources are never changed. For tp_bbq_exact the bug is a PIFO that is an element too small; the check from
reset with it is in bounded.sby.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from induct import BUILD, RTL, TASKS, TOOLS, Proof

sys.path.insert(0, str(RTL / "common"))
from manifest import mutations  # noqa: E402

BUGS = ("level-three-joined", "lists-record-forward", "response-reset")
PARAMETERS = "w2_d2_n3"
EXACT = "exact_w2_d2_n9"
# Cycles in which these bugs show; without a bug none is wrong.
DEPTH = 19


def copy(name: str) -> Path:
    where = BUILD / "bugs" / name
    shutil.rmtree(where, ignore_errors=True)
    for part in ("common/rtl", "bbq/rtl", "bbq/formal"):
        shutil.copytree(RTL / part, where / part, ignore=shutil.ignore_patterns("__pycache__"))
    return where


def seed(where: Path, bug: dict[str, str]) -> None:
    path = where / bug["file"]
    text = path.read_text()
    if text.count(bug["old"]) != 1:
        raise SystemExit(f"{bug['name']}: its text occurs {text.count(bug['old'])} times in {bug['file']}, not once")
    path.write_text(text.replace(bug["old"], bug["new"]))


def first_wrong_cycle(where: Path) -> int | None:
    """The cycle after reset in which the check of bounded.sby finds something wrong, if it does."""
    task = where / "bbq" / "formal" / "bounded.sby"
    task.write_text(re.sub(r"^(w2_d2_n3: )?depth \d+$", rf"\g<1>depth {DEPTH}", task.read_text(), flags=re.MULTILINE))
    environment = os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}", "ABC": os.environ.get("ABC", "berkeley-abc")}
    result = subprocess.run(
        ["sby", "-f", "-d", where / "bounded", task.name, PARAMETERS],
        cwd=task.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
    )  # fmt: skip
    found = re.search(r"was asserted in frame (\d+)", result.stdout)
    # 0 is PASS, 2 is FAIL; all else is a tool's trouble.
    if (result.returncode, found is None) not in ((0, True), (2, False)):
        raise SystemExit(f"{where.name}: SymbiYosys ended with {result.returncode}:\n{result.stdout[-3000:]}")
    return int(found[1]) if found else None


def main() -> None:
    known = mutations()
    if (cycle := first_wrong_cycle(copy("none"))) is not None:
        raise SystemExit(f"wrong in cycle {cycle} without a bug")
    missed = []
    # Theorem 4 is one of the PIFO's size.
    short = TASKS[EXACT]
    refuted = Proof("bug_short_pifo", replace(short, parameters=short.parameters | {"Short": 1})).first_refuted()
    print(f"a PIFO that is an element too small: {f'does not follow: {refuted.where}' if refuted else 'all statements follow'}", flush=True)
    if refuted is None:
        missed.append("a PIFO that is an element too small")
    for name in BUGS:
        started = time.monotonic()
        where = copy(name)
        seed(where, known[name])
        proof = Proof(f"bug_{name}", TASKS[PARAMETERS], where)
        refuted = proof.first_refuted()
        cycle = first_wrong_cycle(where)
        said = f"does not follow: {refuted.where}" if refuted else "all statements follow"
        print(f"{name}: {said}; wrong in cycle {cycle}; {time.monotonic() - started:.0f} s", flush=True)
        if refuted is None or cycle is None:
            missed.append(name)
    if missed:
        raise SystemExit(f"not found: {' '.join(missed)}")


if __name__ == "__main__":
    main()
