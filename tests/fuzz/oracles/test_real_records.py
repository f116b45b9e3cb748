"""Records that break the format, sent to real brokers: who refuses them is fine, who takes them is not."""

from __future__ import annotations

from typing import Final

import pytest

from barnabas.fuzz.engine.assembly import oracles_for
from barnabas.fuzz.engine.rounds import judge
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.sessions.session import TOPIC
from barnabas.fuzz.targets.apache import ApacheService
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.specs.records import build, with_crc
from barnabas.specs.records.record import Record
from tests.fuzz.observed import case
from tests.fuzz.oracles.judging import produce

BATCH: Final = build([Record(i, 1_500_000_000_000, b"k", b"v%d" % i) for i in range(2)])
BROKEN: Final = {
    "good": BATCH,
    "two batches": BATCH + BATCH,
    "cut off": BATCH[:30],
    "none": b"",
    "checksum": BATCH[:-1] + b"x",
    "magic 9": BATCH[:16] + b"\x09" + BATCH[17:],
    "magic 1": BATCH[:16] + b"\x01" + BATCH[17:],
    "a size below zero": BATCH[:8] + b"\xff\xff\xff\xff" + BATCH[12:],
    "a small size": BATCH[:8] + b"\0\0\0\x01" + BATCH[12:],
    "offset delta 5": with_crc(BATCH[:23] + b"\0\0\0\x05" + BATCH[27:]),
    "offset delta 0": with_crc(BATCH[:23] + b"\0\0\0\0" + BATCH[27:]),
}


def faults_of(release: str, version: int) -> dict[str, set[str]]:
    """The records that a broker of a version is found fault with for, and what is said of each."""
    oracles = oracles_for("broker")
    found: dict[str, set[str]] = {}
    with BrokerTarget(
        ApacheService(ApacheSettings(version=release)),
        batch=8,
        connections=1,
        timeout=5,
        probe_timeout=20,
    ) as target:
        for name, records in BROKEN.items():
            (seen,) = target.run([case(produce(version, records, topic=TOPIC))])
            verdicts: tuple[Verdict, ...] = judge(seen, oracles)
            found[name] = {f"{one.oracle}: {one.behaviour[1]}" for one in verdicts}
    return {name: said for name, said in found.items() if said}


@pytest.mark.needs_apache("4.3.1")
def test_who_refuses_each_with_an_error_code_is_found_fault_with_for_nothing() -> None:
    assert faults_of("4.3.1", 9) == {}


@pytest.mark.needs_apache("0.11.0.1")
def test_who_closes_on_what_are_no_records_may_and_who_takes_wrong_offsets_is_told() -> None:
    wrong = "silent: it announced another number of offsets"
    found = faults_of("0.11.0.1", 3)
    assert found.keys() == {"offset delta 0", "offset delta 5"}
    assert all(wrong in said for said in found.values())
