"""Lint: every module alone, over its parameter corners, by Verilator (-Wall) and by Yosys (its slang front end).

    lint.py [DESIGN...]

The corners of a design are in DESIGN/lint/corners.toml: for each module a list of parameter sets, and optionally `needs`, other
designs whose modules it instantiates. A module of the design that has no entry is an error; a list may be empty only where there
are no parameters: the module is then elaborated once. Waivers are in the sources, where the reason is."""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import BUILD, RTL, Parameters, designs, named, say, sources, table, yosys  # noqa: E402


def verilator(top: str, files: list[Path], parameters: Parameters) -> str:
    """What Verilator says; nothing if all is well."""
    command = ["verilator", "--lint-only", "-Wall", "--top-module", top]
    command += [f"-G{name}={value}" for name, value in parameters.items()]
    # Packages, then the module; what it instantiates is found in the directories.
    first = [path for path in files if path.stem.endswith("_pkg") or path.stem == top]
    for directory in dict.fromkeys(path.parent for path in files):
        command += ["-y", str(directory)]
    result = subprocess.run([*command, *map(str, first)], capture_output=True, text=True)
    return result.stderr if result.returncode or result.stderr else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("designs", nargs="*", metavar="DESIGN")
    chosen = parser.parse_args().designs or designs()
    out = BUILD / "lint"
    out.mkdir(parents=True, exist_ok=True)
    problems, count, scripts = [], 0, []
    for design in chosen:
        corners = table(RTL / design / "lint" / "corners.toml")
        names = {path.stem for path in (RTL / design / "rtl").glob("*.sv")}
        for name in sorted(names - {name for name in names if name.endswith("_pkg")}):
            if name not in corners:
                problems.append(f"{design}/rtl/{name}.sv has no entry in {design}/lint/corners.toml")
                continue
            files = sources(design, corners[name].get("needs"))
            for parameters in corners[name]["corners"] or [{}]:
                count += 1
                if complaint := verilator(name, files, parameters):
                    problems.append(f"{name} {named(parameters)}:\n{complaint}")
                settings = " ".join(f"-G {key}={value}" for key, value in parameters.items())
                scripts += [
                    f"log {name} {named(parameters)}",
                    f"read_slang --threads 1 --ignore-assertions --top {name} {settings} {' '.join(map(str, files))}",
                    f"hierarchy -check -top {name}", "proc", "check -assert", "design -reset",
                ]  # fmt: skip
        for name in sorted(corners.keys() - names):
            problems.append(f"{design}/lint/corners.toml names {name}, which is not in {design}/rtl")
    if problems:
        raise SystemExit("\n".join(problems))
    # One process for all: its start takes longer than most of the modules. It stops at the first error, and its log says at which.
    name = "-".join(chosen) if len(chosen) < len(designs()) else "all"
    yosys("\n".join(scripts) + "\n", out, name)
    say(f"rtl lint: {count} modules with parameters, Verilator and Yosys: no complaint")


if __name__ == "__main__":
    main()
