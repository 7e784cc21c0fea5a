"""Runs test_bbq.py on Verilator for every set of parameters that the vectors have, with one and two lanes.

Usage: cocotb_runs.py [--only TEXT] [--ops N]
"""

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

from harness import RTL, sources
from shapes import Shape

HERE = Path(__file__).resolve().parent
BUILD = RTL / "build" / "bbq-cocotb"
VECTORS = RTL.parent / "vectors" / "pqueue" / "bbq.json"


def shapes() -> list[Shape]:
    """Those of the vectors; in turn with one and with two lanes, and with LUT RAM and without."""
    keys = dict.fromkeys(
        (case["width"], case["levels"], case["capacity"], case["partitions"], case["data_bits"])
        for case in json.loads(VECTORS.read_text())["cases"]
    )
    return [Shape(*key, lanes=2 - number % 2, lut_words=(16, 16, 0)[number % 3]) for number, key in enumerate(keys)]


def run(shape: Shape, ops: int) -> int:
    """Number of tests that failed."""
    from cocotb.runner import get_runner

    folder = BUILD / shape.name
    runner = get_runner("verilator")
    runner.build(
        verilog_sources=sources(),
        hdl_toplevel="tp_bbq",
        parameters=shape.generics,
        build_dir=folder,
        build_args=["-Wall", "--x-initial", "unique", "-O3", "-CFLAGS", "-O1"],
    )
    results = runner.test(
        hdl_toplevel="tp_bbq",
        test_module="test_bbq",
        build_dir=folder,
        extra_env={"SHAPE": json.dumps(asdict(shape)), "OPS": str(ops), "VECTORS": "1", "COCOTB_LOG_LEVEL": "INFO"},
        plusargs=["+verilator+rand+reset+2"],
    )
    tests = list(ElementTree.parse(results).iter("testcase"))
    if not tests:
        raise SystemExit(f"{shape.name}: no test was run")
    return sum(test.find("failure") is not None or test.find("error") is not None for test in tests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--ops", type=int, default=5000)
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = str(HERE)
    chosen = [shape for shape in shapes() if arguments.only in shape.name]
    if not chosen:
        raise SystemExit(f"no set of parameters has {arguments.only!r} in its name")
    failed = []
    for shape in chosen:
        print(shape.name, flush=True)
        if run(shape, arguments.ops) != 0:
            failed.append(shape.name)
    if failed:
        raise SystemExit(f"failed: {' '.join(failed)}")
    print(f"{len(chosen)} sets of parameters: vectors, and {arguments.ops} operations each, as expected")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
