"""Builds a module with Verilator and runs its cocotb tests, with what is printed in files."""

import contextlib
import io
import json
import os
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import TOOLS, Parameters, named  # noqa: E402
from runtime import ONE_FILE, keep, lend  # noqa: E402

COMMON = Path(__file__).resolve().parent

# Verilator hands out values of up to so many words of 32 bits; as compiled otherwise, 64 of them: the occupancies of 256 partitions have more.
WIDE = ["-CFLAGS", "-DVL_VALUE_STRING_MAX_WORDS=256"]

# Most of the time goes into compiling, and of that into what is the same for all and is run little.
OPTIMISATION = "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0"

# How many simulations at a time: a build and a run are one process each.
PROCESSES = min(2, os.cpu_count() or 1)


@dataclass(frozen=True)
class Simulation:
    """A module with parameters, and the Python module with its tests, which is in `directory`."""

    name: str
    top: str
    parameters: Parameters
    sources: list[Path]
    module: str
    directory: Path
    # Where it is built.
    where: Path
    # What the tests find in their environment.
    environment: dict[str, str] = field(default_factory=dict)
    # Whether every signal goes into `where`/dump.vcd, fields of structures one by one.
    waves: bool = False


def prepare() -> None:
    """Once, before any process is started."""
    os.environ["PATH"] = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
    os.environ["MAKEFLAGS"] = OPTIMISATION


def simulate(simulation: Simulation) -> int:
    """How many tests have passed; raises if one has not, or if there was none. For a process of its own: changes what belongs to one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # That it is experimental.
        from cocotb.runner import get_runner

    top, where = simulation.top, simulation.where
    where.mkdir(parents=True, exist_ok=True)
    # The runner hands its own search path on.
    sys.path[:0] = [str(simulation.directory), str(COMMON)]
    runner = get_runner("verilator")
    what = f"{simulation.name} {named(simulation.parameters)}"
    flags = f"cocotb {WIDE} {OPTIMISATION} waves={simulation.waves}"
    lend(where, flags)
    logs = where / "log", where / "test.log"
    for log in logs:
        log.unlink(missing_ok=True)
    environment: dict[str, Any] = {"PARAMETERS": json.dumps(simulation.parameters), **simulation.environment}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runner.build(
                verilog_sources=simulation.sources, hdl_toplevel=top, parameters=simulation.parameters, build_dir=where,
                build_args=[
                    *ONE_FILE, "--assert", "--x-initial", "unique", "-O3", "-Wno-fatal", *WIDE, *(["--trace-structs"] if simulation.waves else []),
                ],
                waves=simulation.waves, log_file=logs[0],
            )  # fmt: skip
            keep(where, flags)
            results = runner.test(
                hdl_toplevel=top, test_module=simulation.module, build_dir=where, test_dir=where, log_file=logs[1],
                # Nobody reads results of an earlier run: the file is written anew.
                results_xml=str(where / "results.xml"), extra_env=environment, plusargs=["+verilator+rand+reset+2"], waves=simulation.waves,
            )  # fmt: skip
    except (SystemExit, Exception) as error:
        raise SystemExit(f"{what}: {error}\n{end(logs)}") from error
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    if failed or not cases:
        raise SystemExit(f"{what}: failed: {failed or 'there was no test'}\n{end(logs)}")
    return len(cases)


def end(logs: tuple[Path, Path]) -> str:
    """The last lines of the last log that there is."""
    last = next((log for log in reversed(logs) if log.exists()), None)
    return "\n".join(last.read_text().splitlines()[-60:]) if last else "nothing was printed"
