"""A frame of shift registers around a module, so that pins limit neither its place nor its speed.

Inputs come from a shift register that a single pin feeds. Outputs go to a chain of registers, each of which takes the exclusive or
of an output and of the register before it: nothing can be optimised away, and there is one LUT between an output and a register.
The frame costs a flip-flop for each input bit, and a flip-flop and a LUT for each output bit (`cost`)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Port:
    name: str
    is_input: bool
    bits: int


def ports_of(module: dict) -> list[Port]:
    """Ports of a module, from the JSON that Yosys writes; without clock and reset."""
    ports = [Port(name, port["direction"] == "input", len(port["bits"])) for name, port in module["ports"].items()]
    return [port for port in ports if port.name not in ("clk_i", "rst_ni")]


def bits(ports: list[Port], is_input: bool) -> int:
    return sum(port.bits for port in ports if port.is_input == is_input)


def cost(ports: list[Port]) -> dict[str, int]:
    """What the frame itself takes; two flip-flops are those that bring in the reset."""
    return {"comb": bits(ports, False), "ff": bits(ports, True) + bits(ports, False) + 2}


def harness(top: str, ports: list[Port]) -> str:
    """Verilog of the frame, module `harness`."""
    inputs, outputs = bits(ports, True), bits(ports, False)
    lines, offset = [], {True: 0, False: 0}
    for port in ports:
        low = offset[port.is_input]
        vector = "in_q" if port.is_input else "out"
        lines.append(f"    .{port.name}({vector}[{low + port.bits - 1}:{low}])")
        offset[port.is_input] += port.bits
    connections = ",\n".join(["    .clk_i(clk)", "    .rst_ni(rst_n_q[1])", *lines])
    return f"""module harness (input clk, input rst_n, input si, output so);
  reg [1:0] rst_n_q;
  reg [{inputs - 1}:0] in_q;
  reg [{outputs - 1}:0] out_q;
  wire [{outputs - 1}:0] out;
  always @(posedge clk) begin
    rst_n_q <= {{rst_n_q[0], rst_n}};
    in_q <= {{in_q, si}};
    out_q <= out ^ {{out_q, 1'b0}};
  end
  assign so = out_q[{outputs - 1}];
  {top} dut (
{connections}
  );
endmodule
"""
