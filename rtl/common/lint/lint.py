"""Lint: every module alone, over its parameter corners, by Verilator (-Wall) and by Yosys (its slang front end).

    lint.py [DESIGN...]

The corners of a design are in DESIGN/lint/corners.toml: for each module a list of parameter sets, and optionally `needs`, other
designs whose modules it instantiates. A module of the design that has no entry is an error; a list may be empty only where there
are no parameters: the module is then elaborated once. Waivers are in the sources, where the reason is.

`refused` has the parameter sets that a module has to refuse, and what it `says`. Both tools have to say it, and there has to be a set
for each refusal that is in a source."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import BUILD, RTL, Parameters, designs, named, say, sources, table, yosys  # noqa: E402


def verilator(top: str, files: list[Path], parameters: Parameters) -> str:
    """What Verilator says; nothing if all is well."""
    command = ["verilator", "--lint-only", "-Wall", "--top-module", top]
    command += [f"-G{name}={value}" for name, value in parameters.items()]
    # Packages, then the module, which is the last file if it is none of a design; what it instantiates is found in the directories.
    first = [path for path in files if path.stem.endswith("_pkg") or path.stem == top]
    for directory in dict.fromkeys(path.parent for path in files):
        command += ["-y", str(directory)]
    result = subprocess.run([*command, *map(str, first)], capture_output=True, text=True)
    return result.stderr if result.returncode or result.stderr else ""


def instance(module: str, parameters: Parameters, name: str) -> str:
    settings = ", ".join(f".{key}({value})" for key, value in parameters.items())
    return f"  {module} #({settings}) {name} ();\n"


def refusals(name: str, files: list[Path], refused: list[Parameters], out: Path) -> tuple[list[str], list[str]]:
    """What is wrong with the refusals of a module, as Verilator sees each; and instances with all of them. Around the module is another one,
    as a parameter of an enumeration cannot be set from outside."""
    source = next(path for path in files if path.stem == name).read_text()
    problems, instances = [], []
    said = set(re.findall(r'\$error\("(.*)"\)', source))
    for number, entry in enumerate(refused):
        parameters = {key: value for key, value in entry.items() if key != "says"}
        expected = f"{name}: {entry['says']}"
        instances.append(instance(name, parameters, f"i_{name}_{number}"))
        around = out / "refused_one.sv"
        around.write_text(f"module refused_one;\n{instances[-1]}endmodule\n")
        if f'$error("{expected}")' not in verilator("refused_one", [*files, around], {}):
            problems.append(f"{name} {named(parameters)}: Verilator does not say {expected!r}")
    if missing := said - {f"{name}: {entry['says']}" for entry in refused}:
        problems.append(f"{name}: nothing that is refused with {', '.join(sorted(missing))}")
    if not said:
        problems.append(f"{name} refuses nothing")
    return problems, instances


def slang_refusals(files: list[Path], instances: list[str], expected: set[str], out: Path) -> list[str]:
    """What Yosys's slang does not say of all that is refused, in one run: it says each refusal once."""
    around = out / "refused.sv"
    around.write_text(f"module refused;\n{''.join(instances)}endmodule\n")
    script = f"read_slang --threads 1 --ignore-assertions --error-limit 0 --top refused {' '.join(map(str, files))} {around}\n"
    (out / "refused.out").unlink(missing_ok=True)
    try:
        yosys(script, out, "refused")
    except SystemExit:
        said = (out / "refused.out").read_text() + (out / "refused.ys.log").read_text()
        return [f"Yosys does not say {one!r}" for one in sorted(expected) if f"$error encountered: {one}\n" not in said]
    return ["Yosys refuses nothing"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("designs", nargs="*", metavar="DESIGN")
    chosen = parser.parse_args().designs or designs()
    out = BUILD / "lint"
    out.mkdir(parents=True, exist_ok=True)
    problems, count, scripts = [], 0, []
    instances, expected, all_files = [], set(), {}
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
            refused = corners[name].get("refused", [])
            wrong, wrapped = refusals(name, files, refused, out)
            problems += wrong
            instances += wrapped
            expected |= {f"{name}: {entry['says']}" for entry in refused}
            all_files |= dict.fromkeys(files)
        for name in sorted(corners.keys() - names):
            problems.append(f"{design}/lint/corners.toml names {name}, which is not in {design}/rtl")
    packages_first = sorted(all_files, key=lambda path: not path.stem.endswith("_pkg"))
    problems += slang_refusals(packages_first, instances, expected, out)
    if problems:
        raise SystemExit("\n".join(problems))
    # One process for all: its start takes longer than most of the modules. It stops at the first error, and its log says at which.
    name = "-".join(chosen) if len(chosen) < len(designs()) else "all"
    yosys("\n".join(scripts) + "\n", out, name)
    say(f"rtl lint: {count} modules with parameters, Verilator and Yosys: no complaint; {len(instances)} refused by both")


if __name__ == "__main__":
    main()
