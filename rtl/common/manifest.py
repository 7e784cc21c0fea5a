"""What the tools of rtl/ share: where sources are, parameter tables, and how a tool is started."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

RTL = Path(__file__).resolve().parent.parent
BUILD = RTL / "build"
TOOLS = RTL / ".venv" / "bin"

# Numbers, or Verilog literals as text where a number would be too wide.
Parameters = dict[str, int | str]


def designs() -> list[str]:
    """Directories of rtl/ that hold modules; what all of them use first."""
    found = sorted(path.parent.name for path in RTL.glob("*/rtl") if any(path.glob("*.sv")))
    return sorted(found, key=lambda name: name != "common")


def sources(design: str, needs: list[str] | None = None) -> list[Path]:
    """The files of a design and of those that it needs, packages first."""
    names = dict.fromkeys(["common", *(needs or []), design])
    files = [path for name in names for path in sorted((RTL / name / "rtl").glob("*.sv"))]
    return sorted(files, key=lambda path: not path.stem.endswith("_pkg"))


def table(path: Path) -> dict[str, Any]:
    """A TOML file; empty if there is none."""
    if not path.exists():
        return {}
    with path.open("rb") as file:
        return tomllib.load(file)


def mutations() -> dict[str, dict[str, str]]:
    """The seeded bugs of common/mutate by name."""
    files = sorted((RTL / "common" / "mutate").glob("*.toml"))
    return {entry["name"]: entry for file in files for entry in table(file)["mutation"]}


def run(command: list[str], *, cwd: Path, log: Path) -> None:
    """Runs a tool with its output in a file; if it fails, shows the end of that and raises."""
    environment = dict(os.environ, PATH=f"{TOOLS}{os.pathsep}{os.environ['PATH']}")
    with log.open("w") as file:
        status = subprocess.run(command, cwd=cwd, stdout=file, stderr=subprocess.STDOUT, env=environment).returncode
    if status != 0:
        end = "\n".join(log.read_text().splitlines()[-25:])
        raise SystemExit(f"{command[0]} ended with {status}; the end of {log}:\n{end}")


def yosys(script: str, where: Path, name: str) -> str:
    """Runs a script, in which paths are absolute and below rtl/; returns its log. Yosys comes as WebAssembly, for which /tmp is a directory of its
    own, even if the checkout is there: it is shown rtl/ as /rtl, and nothing else."""
    (where / f"{name}.ys").write_text(script.replace(f"{RTL}/", "/rtl/"))
    seen = f"/rtl/{where.relative_to(RTL)}/{name}.ys"
    # The log, not the standard output, of which nothing comes through after ABC has run.
    run(["env", f"YOWASP_MOUNT=/rtl={RTL}", "yosys", "-q", "-l", f"{seen}.log", "-s", seen], cwd=where, log=where / f"{name}.out")
    return (where / f"{name}.ys.log").read_text()


def say(text: str) -> None:
    print(text, flush=True)
    sys.stdout.flush()


def named(parameters: Parameters) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items()) or "defaults"
