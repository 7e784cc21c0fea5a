"""Shows that the proofs can fail: with a bug in a copy of the circuit, induction has to refuse, and the check from reset has to find
a run that goes wrong.

Usage: bugs.py [NAME...]: all bugs, or those named.

The bugs are some of those of common/mutate that show with the parameters of the proof w2_d2_n3; and all of those that have a `proof` there,
as no simulation finds them: these only have to be refused by that proof, without a check from reset. Copies are in
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


def exact() -> bool:
    """Whether induction refuses a PIFO that is an element too small: Theorem 4 is one of its size."""
    short = TASKS[EXACT]
    refuted = Proof("bug_short_pifo", replace(short, parameters=short.parameters | {"Short": 1})).first_refuted()
    print(f"a PIFO that is an element too small: {f'does not follow: {refuted.where}' if refuted else 'all statements follow'}", flush=True)
    return refuted is not None


def main() -> None:
    known = {name: bug for name, bug in mutations().items() if name in BUGS or "proof" in bug}
    names = sys.argv[1:] or list(known)
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"no such bug: {' '.join(unknown)}; there are {' '.join(known)}")
    if not sys.argv[1:] and (cycle := first_wrong_cycle(copy("none"))) is not None:
        raise SystemExit(f"wrong in cycle {cycle} without a bug")
    missed = [] if sys.argv[1:] or exact() else ["a PIFO that is an element too small"]
    for name in names:
        bug = known[name]
        started = time.monotonic()
        where = copy(name)
        seed(where, bug)
        proof = Proof(f"bug_{name}", TASKS[bug.get("proof", PARAMETERS)], where)
        refuted = proof.first_refuted()
        said = f"does not follow: {refuted.where}" if refuted else "all statements follow"
        wrong = refuted is not None
        if name in BUGS:
            cycle = first_wrong_cycle(where)
            said += f"; wrong in cycle {cycle}"
            wrong = wrong and cycle is not None
        print(f"{name}: {said}; {time.monotonic() - started:.0f} s", flush=True)
        if not wrong:
            missed.append(name)
    if missed:
        raise SystemExit(f"not found: {' '.join(missed)}")


if __name__ == "__main__":
    main()
