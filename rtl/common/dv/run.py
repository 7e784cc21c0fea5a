"""Builds and runs the cocotb tests of the designs on Verilator.

    run.py [TEST...]       all, or those named

DESIGN/dv/tests.toml lists them: name, top, the Python module in DESIGN/dv with the tests, parameter sets, and optionally `needs`, other
designs whose modules are instantiated, and `directory`, if the module is in a directory below. A test finds its parameters in the
environment variable PARAMETERS, as JSON."""

import argparse
import contextlib
import io
import json
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import BUILD, RTL, TOOLS, Parameters, designs, named, say, sources, table  # noqa: E402

COMMON = Path(__file__).resolve().parent


def tests() -> dict[str, dict[str, Any]]:
    found = {}
    for design in designs():
        for test in table(RTL / design / "dv" / "tests.toml").get("test", []):
            found[test["name"]] = {"design": design, "needs": [], "directory": "", **test}
    return found


def run(name: str, test: dict[str, Any], number: int, parameters: Parameters) -> int:
    """Builds and runs; returns how many tests have passed, and raises if one has not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # That it is experimental.
        from cocotb.runner import get_runner

    where = BUILD / "dv" / name / str(number)
    where.mkdir(parents=True, exist_ok=True)
    own = RTL / test["design"] / "dv" / test["directory"]
    # The runner hands its own search path on.
    sys.path[:] = [str(own), str(COMMON), *(path for path in sys.path if not path.startswith(str(RTL / test["design"])))]
    runner = get_runner("verilator")
    log = where / "log"
    print_to = io.StringIO()
    try:
        with contextlib.redirect_stdout(print_to):
            runner.build(
                verilog_sources=sources(test["design"], test["needs"]), hdl_toplevel=test["top"], parameters=parameters,
                build_dir=where, build_args=["--assert", "--x-initial", "unique", "-O3", "-Wno-fatal"], log_file=log,
            )  # fmt: skip
            results = runner.test(
                hdl_toplevel=test["top"], test_module=test["module"], build_dir=where, test_dir=where, log_file=where / "test.log",
                # Nobody reads results of an earlier run: the file is written anew.
                results_xml=str(where / "results.xml"), extra_env={"PARAMETERS": json.dumps(parameters)},
                plusargs=["+verilator+rand+reset+2"],
            )  # fmt: skip
    except (SystemExit, Exception) as error:
        shown = (where / "test.log") if (where / "test.log").exists() else log
        raise SystemExit(f"{name} {named(parameters)}: {error}\n" + "\n".join(shown.read_text().splitlines()[-40:])) from error
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    if failed or not cases:
        shown = "\n".join((where / "test.log").read_text().splitlines()[-60:])
        raise SystemExit(f"{name} {named(parameters)}: failed: {failed or 'there was no test'}\n{shown}")
    return len(cases)


def job(arguments: tuple[str, int]) -> tuple[str, int]:
    name, number = arguments
    test = tests()[name]
    return name, run(name, test, number, test["parameters"][number])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST")
    known = tests()
    chosen = parser.parse_args().tests or list(known)
    if unknown := [name for name in chosen if name not in known]:
        raise SystemExit(f"no such test: {', '.join(unknown)}; known: {', '.join(known)}")
    os.environ["PATH"] = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
    # Most of the time goes into compiling, and of that into what is the same for all and is run little.
    os.environ["MAKEFLAGS"] = "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
    jobs = [(name, number) for name in chosen for number in range(len(known[name]["parameters"]))]
    passed = dict.fromkeys(chosen, 0)
    # A process for each, as the runner changes what belongs to its process; two of them keep two cores busy.
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), max_tasks_per_child=1) as pool:
        for name, count in pool.map(job, jobs):
            passed[name] += count
    for name, count in passed.items():
        say(f"rtl {name}: {count} tests passed, with {len(known[name]['parameters'])} parameter sets")


if __name__ == "__main__":
    main()
