"""Simulates what synthesis makes of tp_bbq: the netlist that nextpnr gets, after outreg.py, against the model of bbq/dv/harness.cpp.

    netlist.py [--ops N] SHAPE...       parameter sets of bbq/dv/shapes.py

The frame of synth.py is left out, all else is the same. The cells are Yosys's own models of them, but for the block RAM, of which it has
none: that is dp16kd.sv. It is an error if no block RAM has got its output registers, as nothing would be checked of that."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import BUILD, RTL, say, yosys  # noqa: E402

from outreg import absorb_top  # noqa: E402
from synth import MAPPING, read  # noqa: E402

sys.path.append(str(RTL / "bbq" / "dv"))
from shapes import HARNESS, Shape  # noqa: E402

OUT = BUILD / "netlist"
HERE = Path(__file__).resolve().parent

# Parameters of a block RAM that its model has, and what others have to be. Those of resets are without effect, as no reset is used, and
# contents at power-up can be anything.
MODELLED = {"DATA_WIDTH_A", "DATA_WIDTH_B", "REGMODE_A", "REGMODE_B", "WRITEMODE_A", "WRITEMODE_B"}
FIXED = {"CSDECODE_A": "0b000", "CSDECODE_B": "0b000", "CLKAMUX": "CLKA", "CLKBMUX": "CLKB"}
WITHOUT_EFFECT = re.compile(r"RESETMODE|ASYNC_RESET_RELEASE|GSR|INITVAL_\w+")
UNUSED = ("RSTA", "RSTB", "CSA0", "CSA1", "CSA2", "CSB0", "CSB1", "CSB2")


def reduced(netlist: dict[str, Any]) -> None:
    """Leaves block RAMs only the parameters that their model has; refuses what it does not do."""
    cells = [cell for module in netlist["modules"].values() for cell in module["cells"].values() if cell["type"] == "DP16KD"]
    for cell in cells:
        for name, value in cell["parameters"].items():
            if name not in MODELLED and not WITHOUT_EFFECT.fullmatch(name) and FIXED.get(name) != value.strip():
                raise SystemExit(f"a block RAM has {name}={value}, of which dp16kd.sv has no model")
        cell["parameters"] = {name: value for name, value in cell["parameters"].items() if name in MODELLED}
        used = [name for name in UNUSED if cell["connections"].get(name, ["0"]) != ["0"]]
        if used:
            raise SystemExit(f"a block RAM uses {' '.join(used)}, of which dp16kd.sv has no model")


def synthesised(shape: Shape, where: Path) -> int:
    """Writes the netlist as Verilog; returns how many block RAMs have their output registers inside."""
    row = {"design": "bbq", "needs": [], "top": "tp_bbq", "parameters": shape.generics}
    yosys(f"{read(row)}\n{MAPPING}synth_ecp5 -nowidelut -top tp_bbq -json {where}/ecp5.json\n", where, "ecp5")
    netlist = json.loads((where / "ecp5.json").read_text())
    absorbed = absorb_top(netlist)
    reduced(netlist)
    # The cells come from their models.
    netlist["modules"] = {name: module for name, module in netlist["modules"].items() if name == "tp_bbq"}
    (where / "placed.json").write_text(json.dumps(netlist))
    yosys(
        f"read_json {where}/placed.json\nread_verilog -D NO_INCLUDES +/lattice/cells_sim_ecp5.v\nhierarchy -top tp_bbq\nproc\nflatten\n"
        f"hierarchy -top tp_bbq\nopt_expr\nopt_clean\nmemory_collect\nwrite_verilog -noattr {where}/netlist.v\n",
        where, "verilog",
    )  # fmt: skip
    return absorbed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, default=100_000)
    parser.add_argument("shapes", nargs="+", metavar="SHAPE")
    arguments = parser.parse_args()
    known = {shape.name: shape for shape in HARNESS}
    if unknown := [name for name in arguments.shapes if name not in known]:
        raise SystemExit(f"no such parameter set: {', '.join(unknown)}; known: {', '.join(known)}")
    for name in arguments.shapes:
        where = OUT / name
        where.mkdir(parents=True, exist_ok=True)
        absorbed = synthesised(known[name], where)
        if absorbed == 0:
            raise SystemExit(f"{name}: no block RAM has its output registers inside")
        command = [sys.executable, RTL / "bbq/dv/harness.py", "--ops", str(arguments.ops), "--only", name, "--netlist"]
        if subprocess.run([*command, where / "netlist.v", HERE / "dp16kd.sv"]).returncode != 0:
            raise SystemExit(1)
        say(f"rtl netlist: {name}: {arguments.ops} operations as the model's, {absorbed} block RAMs with their output registers inside")


if __name__ == "__main__":
    main()
