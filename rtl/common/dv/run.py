"""Builds and runs the cocotb tests of the designs on Verilator.

    run.py [TEST...]       all, or those named

DESIGN/dv/tests.toml lists them: name, top, the Python module in DESIGN/dv with the tests, parameter sets, and optionally `needs`, other
designs whose modules are instantiated, and `directory`, if the module is in a directory below. A test finds its parameters in the
environment variable PARAMETERS, as JSON."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import BUILD, RTL, designs, say, sources, table  # noqa: E402

from simulate import PROCESSES, Simulation, prepare, simulate  # noqa: E402


def tests() -> dict[str, dict[str, Any]]:
    found = {}
    for design in designs():
        for test in table(RTL / design / "dv" / "tests.toml").get("test", []):
            found[test["name"]] = {"design": design, "needs": [], "directory": "", **test}
    return found


def simulations(name: str, test: dict[str, Any]) -> list[Simulation]:
    """One for each set of parameters."""
    return [
        Simulation(
            name, test["top"], parameters, sources(test["design"], test["needs"]), test["module"],
            RTL / test["design"] / "dv" / test["directory"], BUILD / "dv" / name / str(number),
        )
        for number, parameters in enumerate(test["parameters"])
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST")
    known = tests()
    chosen = parser.parse_args().tests or list(known)
    if unknown := [name for name in chosen if name not in known]:
        raise SystemExit(f"no such test: {', '.join(unknown)}; known: {', '.join(known)}")
    prepare()
    jobs = [simulation for name in chosen for simulation in simulations(name, known[name])]
    passed = dict.fromkeys(chosen, 0)
    with ProcessPoolExecutor(PROCESSES, max_tasks_per_child=1) as pool:
        for job, count in zip(jobs, pool.map(simulate, jobs), strict=True):
            passed[job.name] += count
    for name, count in passed.items():
        say(f"rtl {name}: {count} tests passed, with {len(known[name]['parameters'])} parameter sets")


if __name__ == "__main__":
    main()
