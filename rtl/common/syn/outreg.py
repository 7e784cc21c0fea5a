"""Moves the registers behind block RAMs into them.

    outreg.py IN.json OUT.json      a netlist of `synth_ecp5 -json`, for nextpnr-ecp5

An ECP5 block RAM (DP16KD) has a register at its outputs, which vendors' tools find by themselves and `synth_ecp5` does not. Where
each output bit that is used goes to the input of one flip-flop and nowhere else, on the memory's read clock, without enable, set or
reset, those flip-flops are taken away and REGMODE becomes OUTREG: the same circuit, cycle for cycle, as far as OUTREG means one more
rising edge from address to data, which is how Lattice describes it. Yosys has no model of what a DP16KD does; netlist.py simulates the
result with one of our own, dp16kd.sv, which takes OUTREG for the same. Left as they are: RAMs one above the other, as a multiplexer is before the register; and values at power-up,
on which nothing in rtl/ depends. `synth.py` calls this for all rows."""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
Bit = int | str


def plain(cell: Cell) -> bool:
    """Whether a flip-flop does nothing but follow its input at the rising edge."""
    connections, parameters = cell["connections"], cell["parameters"]
    enabled = parameters.get("CEMUX", "CE").strip() == "1" or connections.get("CE", ["1"]) == ["1"]
    rising = parameters.get("CLKMUX", "CLK") == "CLK"
    return enabled and rising and connections.get("LSR", ["0"]) == ["0"]


def absorb(module: dict[str, Any]) -> int:
    """Changes a module in place; returns the number of memories that now have their registers inside."""
    cells: dict[str, Cell] = module["cells"]
    users: dict[Bit, list[tuple[str, str]]] = defaultdict(list)
    for name, cell in cells.items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] != "output":
                for bit in bits:
                    users[bit].append((name, port))
    for port in module["ports"].values():
        if port["direction"] != "input":
            for bit in port["bits"]:
                users[bit].append(("", ""))

    absorbed = 0
    for memory in [cell for cell in cells.values() if cell["type"] == "DP16KD"]:
        outputs = [(port, bits[0]) for port, bits in memory["connections"].items() if port.startswith("DO") and bits]
        used = [(port, bit) for port, bit in outputs if users[bit]]
        sinks = {port: users[bit] for port, bit in used}
        # A read of 36 bits is one of port B, with half of its outputs at port A.
        sides = "AB" if int(memory["parameters"]["DATA_WIDTH_B"], 2) == 36 else "".join(sorted({port[2] for port, _ in used}))

        def register(port: str) -> Cell | None:
            """The flip-flop behind an output, if it can go into the memory."""
            if len(sinks[port]) != 1 or sinks[port][0][1] != "DI":
                return None
            cell = cells[sinks[port][0][0]]
            same_clock = all(cell["connections"]["CLK"] == memory["connections"][f"CLK{side}"] for side in sides)
            return cell if cell["type"] == "TRELLIS_FF" and plain(cell) and same_clock else None

        registers = {port: register(port) for port, _ in used}
        if not registers or None in registers.values():
            continue
        for port, _ in used:
            flip_flop = registers[port]
            assert flip_flop is not None
            memory["connections"][port] = flip_flop["connections"]["Q"]
            del cells[sinks[port][0][0]]
        for side in sides:
            memory["parameters"][f"REGMODE_{side}"] = "OUTREG"
            memory["connections"][f"OCE{side}"] = ["1"]
        absorbed += 1
    return absorbed


def absorb_top(netlist: dict[str, Any]) -> int:
    """`absorb` for the top module of a flat netlist."""
    (top,) = [module for module in netlist["modules"].values() if int(module["attributes"].get("top", "0"), 2)]
    return absorb(top)


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    netlist = json.loads(Path(sys.argv[1]).read_text())
    print(f"{absorb_top(netlist)} block RAMs with their output registers inside")
    Path(sys.argv[2]).write_text(json.dumps(netlist))


if __name__ == "__main__":
    main()
