"""Draws three operations on their way through tp_bbq from a simulation, and tells one of them stage by stage, for docs/findings/pqueue.md.

    timing.py            writes docs/findings/pqueue-timing.svg, and the table between the marks in docs/findings/pqueue.md
    timing.py --check    says what would change, and fails if anything would
"""

import argparse
import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent.parent / "common" / "dv")]
from harness import BUILD, RTL, sources  # noqa: E402
from shapes import Shape  # noqa: E402
from simulate import Simulation, prepare, simulate  # noqa: E402

DOCS = RTL.parent / "docs" / "findings"
PICTURE, PAGE = DOCS / "pqueue-timing.svg", DOCS / "pqueue.md"
MARKS = re.compile(r"(<!-- from rtl/bbq/dv/timing -->\n).*?(<!-- end -->)", re.DOTALL)
SHAPE = Shape(8, 3, 1023)
# The operation that the table is about.
TOLD = 1
CLOCK = "top.tp_bbq.clk_i"
DIGITS = SHAPE.digit_bits


class Waves:
    """What every signal was in every cycle, right before the clock edge that ends it. Cycle 0 is that of the first of three requests in a row."""

    def __init__(self, path: Path) -> None:
        from vcdvcd import VCDVCD

        self.vcd = VCDVCD(str(path), store_scopes=False)
        self.names = {re.sub(r"\[\d+:\d+\]$", "", name): name for name in self.vcd.signals}
        self.edges = [time for time, value in self.vcd[self.names[CLOCK]].tv if value == "1"][1:]
        issued = [cycle for cycle in range(len(self.edges)) if self.at("valid_i", cycle) and self.at("rst_ni", cycle)]
        self.edges = self.edges[issued[-3] :]

    def at(self, name: str, cycle: int) -> int:
        value = self.vcd[self.names[f"top.tp_bbq.{name}"]][self.edges[cycle] - 1]
        return int(value, 2) if set(value) <= {"0", "1"} else 0


@dataclass(frozen=True)
class Stage:
    """A stage: when there is an operation in it, a few letters for a cell, and words for a line of the table."""

    name: str
    valid: str
    cell: Callable[[Waves, int], str]
    words: Callable[[Waves, int], str]


def bits(value: int) -> str:
    return f"{value:0{SHAPE.width}b}"


def fixed(cell: str, words: str) -> tuple[Callable[[Waves, int], str], Callable[[Waves, int], str]]:
    return lambda waves, cycle: cell, lambda waves, cycle: words


def request(waves: Waves, cycle: int) -> str:
    name = ("ENQUEUE", "DEQUEUE-MIN", "DEQUEUE-MAX")[waves.at("op_i", cycle)]
    return f"{name} {waves.at('priority_i', cycle)}" if name == "ENQUEUE" else name


def short(text: str) -> str:
    return text.replace("ENQUEUE", "enq").replace("DEQUEUE-MIN", "min").replace("DEQUEUE-MAX", "max")


def front(waves: Waves, cycle: int) -> tuple[int, int]:
    return waves.at("i_front.d_count", cycle), waves.at("i_front.d_next", cycle)


def front_words(waves: Waves, cycle: int) -> str:
    before, after = front(waves, cycle)
    return f"{before} elements: it can be done; {after} from now on"


def child(one_hot: int) -> int:
    return one_hot.bit_length() - 1


def level(number: int) -> list[Stage]:
    """The stages of a level: of a table reads, then E and C."""
    path = f"g_level[{number}].i_level"
    node_low = (SHAPE.levels - number + 1) * DIGITS

    def find(waves: Waves, cycle: int) -> str:
        before, after = (waves.at(f"{path}.{name}", cycle) for name in ("e_bitmap_q", "e_bitmap_next"))
        found = child(waves.at(f"{path}.e_child", cycle))
        left = "one is below it, so its bit goes" if before != after else "more than one is below it: its bit stays"
        return f"bitmap `{bits(before)}`: the lowest bit is child {found}; {left}: `{bits(after)}`"

    in_block_ram = SHAPE.width ** (number - 1) > SHAPE.lut_words

    def counts(waves: Waves, cycle: int) -> tuple[int, int, int]:
        index = child(waves.at(f"{path}.c_child_q", cycle))
        if in_block_ram:
            return index, *(waves.at(f"{path}.g_tables.{name}[{index}]", cycle) for name in ("c_counts_q", "c_counts_next"))
        # Here it is read in C, and changed in the next cycle.
        return index, waves.at(f"{path}.g_counts.c_word.count", cycle), waves.at(f"{path}.g_counts.d_word_next.count", cycle + 1)

    def count_words(waves: Waves, cycle: int) -> str:
        index, before, after = counts(waves, cycle)
        return f"elements below child {index}: {before}, now {after}"

    def node(waves: Waves, cycle: int) -> str:
        here, ahead = (waves.at(f"{path}.{stage}.bucket", cycle) >> node_low for stage in ("p", "e_q"))
        same = waves.at(f"{path}.e_q.valid", cycle) and here == ahead
        return f"node {here}, {'as the operation ahead leaves it in this cycle' if same else 'as the memory has it'}"

    def cell(waves: Waves, cycle: int) -> str:
        _, before, after = counts(waves, cycle)
        return f"{before} → {after}"

    name = "root" if number == 1 else f"level {number}"
    stages = [
        Stage(f"{name}, E", f"{path}.e_q.valid", lambda waves, cycle: f"child {child(waves.at(f'{path}.e_child', cycle))}", find),
        Stage(f"{name}, C", f"{path}.c_q.valid", cell, count_words),
    ]
    if number > 1:
        stages.insert(0, Stage(f"{name}, P", f"{path}.p.valid", lambda waves, cycle: "read", node))
    if in_block_ram:
        stages.insert(0, Stage(f"{name}, R", f"{path}.g_tables.r_q.valid", *fixed("read", "the memory reads the node")))
    return stages


def element(waves: Waves, cycle: int) -> str:
    return f"the list of bucket {waves.at('i_lists.x_q.bucket', cycle)} begins with element {waves.at('i_lists.pointer', cycle)}, which goes to the free list"


def record(waves: Waves, cycle: int) -> str:
    same = waves.at("i_lists.x_q.valid", cycle) and waves.at("i_lists.x_q.bucket", cycle) == waves.at("i_lists.p_q.bucket", cycle)
    return f"the record, {'as the operation ahead leaves it in this cycle' if same else 'as the memory has it'}"


def response(waves: Waves, cycle: int) -> str:
    return f"done: priority {waves.at('priority_o', cycle)}, data {waves.at('data_o', cycle)}"


def answer(waves: Waves, cycle: int) -> str:
    return "ok" if waves.at("op_o", cycle) == 0 else f"{waves.at('priority_o', cycle)}"


STAGES = [
    Stage("request", "valid_i", lambda waves, cycle: short(request(waves, cycle)), request),
    Stage("front", "i_front.valid_o", lambda waves, cycle: "{} → {}".format(*front(waves, cycle)), front_words),
    *(stage for number in range(1, SHAPE.levels + 1) for stage in level(number)),
    Stage("lists, R", "i_lists.g_block.r_q.valid", *fixed("read", "the memory reads the bucket's record")),
    Stage("lists, P", "i_lists.p_q.valid", lambda waves, cycle: "read", record),
    Stage("lists, X", "i_lists.x_q.valid", lambda waves, cycle: f"el. {waves.at('i_lists.pointer', cycle)}", element),
    Stage("data", "i_lists.y_valid_q", *fixed("read", "the memory reads the element's data")),
    Stage("data", "i_lists.z_valid_q", *fixed("read", "through its output register")),
    Stage("response", "valid_o", answer, response),
]  # fmt: skip


def schedule(waves: Waves) -> list[tuple[Stage, dict[int, int]]]:
    """For each stage, in which cycle each operation is in it. They stay in order."""
    cycles = range(SHAPE.latency + 3)
    found = []
    for stage in STAGES:
        operations = [number for number in range(3) if stage.name != "data" or number > 0]
        busy = [cycle for cycle in cycles if waves.at(stage.valid, cycle)]
        if len(busy) != len(operations):
            raise SystemExit(f"{stage.name}: {len(busy)} operations, expected {len(operations)}")
        found.append((stage, dict(zip(operations, busy, strict=True))))
    return found


def picture(waves: Waves) -> str:
    left, top, wide, high = 96, 34, 46, 24
    columns = SHAPE.latency + 3
    width, height = left + columns * wide + 14, top + len(STAGES) * high + 14
    colours = ("#0072b2", "#009e73", "#a64d82")
    said = "; ".join(f"in cycle {cycle} {request(waves, cycle)}" for cycle in range(3))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12" role="img" '
        'aria-labelledby="t d">',
        f'  <title id="t">Three operations on their way through tp_bbq, W = {SHAPE.width}, D = {SHAPE.levels}, N = {SHAPE.elements}</title>',
        f'  <desc id="d">{said}. Each goes one stage further with every cycle, and is answered {SHAPE.latency} cycles after its request.</desc>',
        f'  <rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'  <text x="10" y="22" fill="#24292f" font-weight="600">cycle</text>',
    ]
    for cycle in range(columns):
        middle = left + cycle * wide + wide // 2
        lines.append(f'  <text x="{middle}" y="22" fill="#24292f" text-anchor="middle">{cycle}</text>')
        lines.append(f'  <line x1="{left + cycle * wide}" y1="{top - 6}" x2="{left + cycle * wide}" y2="{height - 10}" stroke="#e5e5e5"/>')
    for row, (stage, places) in enumerate(schedule(waves)):
        y = top + row * high
        lines.append(f'  <text x="10" y="{y + 16}" fill="#24292f">{stage.name}</text>')
        for operation, cycle in places.items():
            x = left + cycle * wide
            lines.append(f'  <rect x="{x}" y="{y}" width="{wide}" height="{high - 2}" fill="{colours[operation]}" stroke="#ffffff"/>')
            text = stage.cell(waves, cycle)
            lines.append(f'  <text x="{x + wide // 2}" y="{y + 15}" fill="#ffffff" font-size="11" text-anchor="middle">{text}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def walk(waves: Waves) -> str:
    rows = ["| cycle | stage | what happens |", "|---|---|---|"]
    for stage, places in schedule(waves):
        cycle = places[TOLD]
        rows.append(f"| {cycle} | {stage.name} | {stage.words(waves, cycle)} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    prepare()
    where = BUILD / "bbq-timing"
    environment = {"SHAPE": json.dumps(asdict(SHAPE)), "OPS": "0"}
    sys.path.append(str(HERE.parent))
    simulate(Simulation("timing", "tp_bbq", dict(SHAPE.generics), sources(), "test_timing", HERE, where, environment, waves=True))
    waves = Waves(where / "dump.vcd")
    page = PAGE.read_text()
    told, marks = MARKS.subn(lambda found: found[1] + walk(waves) + found[2], page)
    if marks != 1:
        raise SystemExit(f"{PAGE}: expected one pair of marks for the table, found {marks}")
    changed = []
    for path, text in ((PICTURE, picture(waves)), (PAGE, told)):
        if not path.exists() or path.read_text() != text:
            changed.append(path.name)
            if not check:
                path.write_text(text)
    if check and changed:
        raise SystemExit(f"not what the simulation has: {', '.join(changed)}; run `make -C rtl timing`")
    print(f"rtl timing: picture and table as simulated{', changed: ' + ', '.join(changed) if changed else ''}")


if __name__ == "__main__":
    main()
