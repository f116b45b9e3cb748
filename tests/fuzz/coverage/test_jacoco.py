from __future__ import annotations

import io

import pytest

from barnabas.fuzz.coverage.agent import DumpError
from barnabas.fuzz.coverage.jacoco import dump, lines_of, written
from barnabas.fuzz.coverage.lines import Lines, Unit
from barnabas.fuzz.coverage.probes import Key, Probes

NODE = Key(2494830329852806762, "org/apache/kafka/common/Node")

TOLD = bytes.fromhex(
    "01c0c0100710000a766d2d63363965396561000001a216ce27e6000001a216ce399811229f6af781"
    "bf466a001c6f72672f6170616368652f6b61666b612f636f6d6d6f6e2f4e6f646530192000000080"
)
"""What an agent of 0.8.14 said of a JVM in which `new Node(1, "h", 2).idString()` was called."""

REPORT = b"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">
<report name="JaCoCo Coverage Report">
<package name="org/apache/kafka/common/message">
<class name="org/apache/kafka/common/message/FetchRequestData" sourcefilename="FetchRequestData.java">
<method name="&lt;init&gt;" desc="()V" line="10"/><method name="read" desc="(II)V" line="20"/>
<method name="write" desc="(II)V" line="40"/></class>
<class name="org/apache/kafka/common/message/FetchRequestData$T" sourcefilename="FetchRequestData.java">
<method name="read" desc="(II)V" line="60"/></class>
<sourcefile name="FetchRequestData.java">
<line nr="10" mi="0" ci="3" mb="0" cb="0"/><line nr="21" mi="0" ci="3" mb="1" cb="1"/>
<line nr="22" mi="4" ci="0" mb="0" cb="0"/><line nr="41" mi="4" ci="0" mb="0" cb="0"/>
<line nr="61" mi="4" ci="0" mb="0" cb="0"/></sourcefile>
</package>
<package name="kafka/log"><class name="kafka/log/Log" sourcefilename="Log.scala">
<method name="read" desc="()V" line="5"/></class>
<sourcefile name="Log.scala"><line nr="5" mi="0" ci="3" mb="0" cb="0"/></sourcefile></package>
<package name="org/apache/kafka/shaded/google">
<sourcefile name="A.java"><line nr="5" mi="0" ci="3" mb="0" cb="0"/></sourcefile></package>
</report>"""


def test_what_an_agent_says_is_read_to_its_end() -> None:
    stream = io.BytesIO(TOLD + b"\x20\x01")
    found = dump(stream)
    assert found == {NODE: Probes(0x800000002019, 48)}
    assert stream.read() == b"\x01"


@pytest.mark.parametrize("end", range(len(TOLD)))
def test_an_agent_that_is_gone_is_told_wherever_it_ends(end: int) -> None:
    with pytest.raises(EOFError):
        dump(io.BytesIO(TOLD[:end]))


@pytest.mark.parametrize(
    "bad", [b"\x01\xc0\xc0\x10\x06", b"\x99", TOLD[:73] + b"\xff" * 8, TOLD[:73] + b"\x81\x80\x40"]
)
def test_what_is_no_dump_is_refused(bad: bytes) -> None:
    with pytest.raises(DumpError):
        dump(io.BytesIO(bad))


def test_classes_of_more_probes_in_all_than_an_answer_has_bytes_are_refused() -> None:
    many = {Key(number, "a/B"): Probes(0, 1 << 20) for number in range(130)}
    with pytest.raises(DumpError, match="too many"):
        dump(io.BytesIO(written(many) + b"\x20"))


def test_what_is_written_is_read_again() -> None:
    found = {NODE: Probes(5, 48), Key(-1, "a/Ü"): Probes(1 << 299, 300), Key(3, "b"): Probes(0, 0)}
    assert dump(io.BytesIO(written(found) + b"\x20")) == found


def test_a_method_that_reads_the_protocol_is_a_unit_with_those_of_its_file() -> None:
    package = "org.apache.kafka.common.message"
    assert lines_of(io.BytesIO(REPORT)) == {
        Unit(package, "FetchRequestData", False): Lines(1, 1 | 1 << 31),
        Unit(package, "FetchRequestData.read", True): Lines(1, 1 | 1 << 1 | 1 << 40),
        Unit("kafka.log", "Log", False): Lines(1, 1),
    }
