"""The parameters with which tp_bbq is tested, and what the tests have to know of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """Parameters of tp_bbq."""

    width: int
    levels: int
    elements: int
    partitions: int = 1
    data_bits: int = 16
    lanes: int = 2
    lut_words: int = 16
    memory_stages: int = 0

    @property
    def name(self) -> str:
        return (
            f"w{self.width}_d{self.levels}_n{self.elements}_p{self.partitions}"
            f"_b{self.data_bits}_k{self.lanes}_l{self.lut_words}{'_m' if self.memory_stages else ''}"
        )

    @property
    def digit_bits(self) -> int:
        return self.width.bit_length() - 1

    @property
    def buckets(self) -> int:
        return self.width**self.levels

    @property
    def span(self) -> int:
        return self.buckets // self.partitions

    @property
    def count_bits(self) -> int:
        return self.elements.bit_length()

    @property
    def occupancy_delay(self) -> int:
        """Cycles after which a request shows in the occupancies."""
        return 2 if self.partitions == 1 else 3

    @property
    def latency(self) -> int:
        """Cycles from a request to its response, as the header of tp_bbq.sv has them."""

        def table(words: int) -> int:
            return 2 if words == 1 else 3 if words <= self.lut_words else 4 + self.memory_stages

        partition_bits = self.partitions.bit_length() - 1
        first = partition_bits // self.digit_bits + 1 if partition_bits % self.digit_bits == 0 else 1
        tree = sum(table(self.width ** (level - 1)) for level in range(first, self.levels + 1))
        lists = table(self.buckets) + 2
        if self.memory_stages:
            lists += 1 if self.buckets <= self.lut_words else 2
        return (self.occupancy_delay - 1) + tree + lists

    @property
    def generics(self) -> dict[str, int]:
        return {
            "Width": self.width,
            "Levels": self.levels,
            "Elements": self.elements,
            "DataBits": self.data_bits,
            "Partitions": self.partitions,
            "Lanes": self.lanes,
            "LutWords": self.lut_words,
            "MemoryStages": self.memory_stages,
        }


HARNESS = [
    # The smallest there are, in LUT RAM and in block RAM.
    Shape(2, 1, 1, data_bits=1),
    Shape(2, 1, 2, partitions=2, lut_words=0),
    Shape(2, 2, 3, data_bits=8),
    Shape(2, 2, 3, data_bits=8, lut_words=0),
    Shape(2, 2, 3, data_bits=8, lanes=1, lut_words=0),
    Shape(2, 2, 7, partitions=2),
    Shape(2, 2, 4, partitions=4, lanes=1),
    Shape(2, 3, 5, lanes=1),
    Shape(2, 3, 6, partitions=4),
    # Partitions that divide a node, at the root and below it.
    Shape(4, 3, 30, partitions=2, lut_words=0),
    Shape(4, 3, 30, partitions=4),
    Shape(4, 3, 30, partitions=8, lut_words=0),
    Shape(4, 3, 30, partitions=8, lanes=1),
    Shape(4, 3, 100, partitions=32, lut_words=2),
    Shape(4, 3, 17, partitions=64),
    Shape(4, 2, 16, partitions=8, lut_words=0),
    Shape(8, 1, 20, lanes=1),
    # Fewer elements than priorities, and more.
    Shape(8, 2, 9),
    Shape(8, 2, 300, lut_words=0),
    Shape(16, 2, 40, partitions=8, data_bits=5),
    # Those that are measured.
    Shape(8, 3, 1023),
    Shape(8, 3, 1023, lut_words=0),
    Shape(8, 3, 1023, partitions=8),
    Shape(8, 3, 1000, partitions=32, lanes=1),
    Shape(4, 4, 1023),
    Shape(8, 4, 4095, data_bits=32),
    Shape(32, 2, 200, partitions=4, data_bits=33),
    Shape(64, 2, 6, partitions=512, data_bits=64),
    Shape(32, 3, 16383, data_bits=32, lanes=1),
    Shape(8, 5, 16383, data_bits=32, lanes=1, partitions=16),
    # Registers around block RAM.
    Shape(2, 2, 3, data_bits=8, memory_stages=1),
    Shape(2, 2, 3, data_bits=8, lut_words=0, memory_stages=1),
    Shape(2, 2, 3, data_bits=8, lanes=1, lut_words=0, memory_stages=1),
    Shape(4, 3, 30, partitions=8, lut_words=0, memory_stages=1),
    Shape(8, 2, 300, lut_words=0, memory_stages=1),
    Shape(8, 5, 16383, memory_stages=1),
    Shape(32, 3, 16383, memory_stages=1),
]
