from __future__ import annotations

from barnabas.fuzz.coverage.golang import lines_of
from barnabas.fuzz.coverage.lines import Lines, Unit

KMSG = "github.com/twmb/franz-go/pkg/kmsg"

TEXT = f"""mode: set
client/lines.go:47.13,52.29 5 1
{KMSG}/generated.go:140.48,142.2 1 0
{KMSG}/generated.go:148.61,152.2 4 1
{KMSG}/generated.go:152.2,155.3 2 0
{KMSG}/generated.go:185.30,186.2 0 1
"""
FUNCTIONS = f"""client/lines.go:47:\t\t\tmain\t\t\t\t66.7%
{KMSG}/generated.go:140:\t\t\t*MessageV0.ReadFrom\t\t\t\t0.0%
{KMSG}/generated.go:148:\t\t\t*MessageV0.readFrom\t\t\t\t50.0%
{KMSG}/generated.go:185:\t\t\t*MessageV0.Default\t\t\t\t100.0%
total\t\t\t(statements)\t30.3%
"""


def test_blocks_are_lines_of_the_function_that_they_are_in() -> None:
    assert lines_of(TEXT, FUNCTIONS) == {
        Unit(KMSG, "generated.MessageV0.readFrom", True): Lines(0b11111, 0b11111111),
        Unit(KMSG, "generated", False): Lines(0b11 << 45, 0b111 | 0b11 << 45),
    }


def test_a_line_of_two_blocks_is_reached_whichever_comes_first() -> None:
    blocks = TEXT.splitlines()
    turned = "\n".join([blocks[0], *reversed(blocks[1:])])
    assert lines_of(turned, FUNCTIONS) == lines_of(TEXT, FUNCTIONS)


def test_decoders_are_parsers_by_the_names_that_libraries_have_for_them() -> None:
    names = {
        "*FetchResponse.decode": True,
        "decodeRecords": True,
        "Unmarshal": True,
        "*Batch.decoded.x": False,
        "*Client.Fetch": False,
        "*Conn.ReadBatch": False,
    }
    text = "mode: set\n" + "".join(f"m/p/f.go:{n}.1,{n}.9 1 1\n" for n in range(len(names)))
    functions = "".join(f"m/p/f.go:{n}:\t{name}\t1.0%\n" for n, name in enumerate(names))
    assert {unit.name for unit in lines_of(text, functions) if unit.parser} == {
        f"f.{name.lstrip('*')}" for name, parser in names.items() if parser
    }
