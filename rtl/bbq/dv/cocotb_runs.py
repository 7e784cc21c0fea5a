"""Runs test_bbq.py on Verilator for every set of parameters that the vectors have, in turn with one lane and two, and with LUT RAM and
without.

Usage: cocotb_runs.py [--only TEXT] [--ops N]
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from harness import BUILD, RTL, sources
from shapes import Shape

sys.path.insert(0, str(RTL / "common" / "dv"))
from simulate import PROCESSES, Simulation, prepare, simulate  # noqa: E402

HERE = Path(__file__).resolve().parent
VECTORS = RTL.parent / "vectors" / "pqueue" / "bbq.json"


def shapes() -> list[Shape]:
    """Those of the vectors."""
    keys = dict.fromkeys(
        (case["width"], case["levels"], case["capacity"], case["partitions"], case["data_bits"])
        for case in json.loads(VECTORS.read_text())["cases"]
    )
    return [Shape(*key, lanes=2 - number % 2, lut_words=(16, 16, 0)[number % 3]) for number, key in enumerate(keys)]


def simulation(shape: Shape, ops: int) -> Simulation:
    return Simulation(
        shape.name, "tp_bbq", dict(shape.generics), sources(), "test_bbq", HERE, BUILD / "bbq-cocotb" / shape.name,
        {"SHAPE": json.dumps(asdict(shape)), "OPS": str(ops)},
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--ops", type=int, default=5000)
    arguments = parser.parse_args()
    chosen = [shape for shape in shapes() if arguments.only in shape.name]
    if not chosen:
        raise SystemExit(f"no set of parameters has {arguments.only!r} in its name")
    prepare()
    with ProcessPoolExecutor(PROCESSES, max_tasks_per_child=1) as pool:
        passed = sum(pool.map(simulate, [simulation(shape, arguments.ops) for shape in chosen]))
    print(
        f"rtl bbq: {passed} tests passed, with {len(chosen)} parameter sets: the software model's vectors, and {arguments.ops} operations each",
        flush=True,
    )


if __name__ == "__main__":
    main()
