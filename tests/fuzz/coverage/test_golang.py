from __future__ import annotations

import io

import pytest

from barnabas.fuzz.coverage.agent import DumpError
from barnabas.fuzz.coverage.golang import GoMeter, counters, lines_of, written
from barnabas.fuzz.coverage.lines import Lines, Unit
from barnabas.fuzz.coverage.probes import Key, Probes
from barnabas.fuzz.errors import CannotRun

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


_STRINGS = b"\x09\x00\x04argc\x011\x05argv0\x06client\x04GOOS\x05linux\x06GOARCH\x05amd64"
_ARGUMENTS = bytes.fromhex("040708050601020304000000")
TOLD = (
    bytes.fromhex(
        "0063776d01000000bc63d6c6938574cfa2cabf49a80c600602000000000000000200000000000000"
    )
    + len(_STRINGS).to_bytes(4, "little")
    + len(_ARGUMENTS).to_bytes(4, "little")
    + _STRINGS
    + _ARGUMENTS
    + bytes.fromhex("0932240001010101000000000b32030101000000010100000101")
    + bytes.fromhex("0063776d000000000100000000000000")
)
"""What a program with kafka-go 0.4.51 told when nothing was asked of it but one line."""

DECODING, LISTENING = Key(0x32 << 32 | 0x24, "50.36"), Key(0x32 << 32 | 3, "50.3")


def test_counters_that_are_not_0_are_blocks_that_were_passed() -> None:
    assert counters(TOLD) == {DECODING: Probes(0b11110, 9), LISTENING: Probes(0b11001100011, 11)}


def test_a_counter_of_several_bytes_is_one() -> None:
    often = TOLD.replace(bytes.fromhex("0932240001"), bytes.fromhex("093224008101"))
    assert counters(often)[DECODING] == Probes(0b11110, 9)


@pytest.mark.parametrize("end", range(len(TOLD)))
def test_counters_that_are_cut_off_are_refused(end: int) -> None:
    with pytest.raises(DumpError):
        counters(TOLD[:end])


def test_a_number_of_more_than_64_bits_is_none() -> None:
    with pytest.raises(DumpError):
        counters(TOLD.replace(bytes.fromhex("0932240001"), bytes.fromhex("0932240081" + "80" * 20)))


def test_what_is_no_counters_is_not_what_others_are_written_like() -> None:
    meter = GoMeter()
    try:
        with pytest.raises(DumpError):
            meter._dump(io.BytesIO(_sized(b"\xff" * 100)))
        with pytest.raises(CannotRun, match="no program wrote any"):
            meter.read()
    finally:
        meter.close()


def _sized(told: bytes) -> bytes:
    return len(told).to_bytes(4) + told


def test_what_is_written_is_read_again() -> None:
    found = {DECODING: Probes(1 << 299, 300), Key(200 << 32 | 7, "200.7"): Probes(0, 2)}
    assert counters(written(TOLD, found)) == found


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
        "*FetchRequest.readFrom": False,
        "*fetchRequestBlock.decode": False,
        "decodeRequest": False,
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
