"""A finding for who has to mend it: what was sent, expected and seen, and nothing of ours."""

from __future__ import annotations

from dataclasses import replace

from barnabas.fuzz.cases.case import Change, Recipe, Seed
from barnabas.fuzz.cases.observation import Death, Observation, Probe
from barnabas.fuzz.database.finding import Finding
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.report.finding import BYTES, WIDTH, dump, text
from barnabas.fuzz.report.message import MarkedBytes

SEED = Seed(3, 1, "request", bytes.fromhex("0003 0001 00000007 0001 61 00000001 0002 6869"), "")
RECIPE = Recipe(SEED, (Change("counts", "topics.count", 1 << 24),))
CASE = cook(RECIPE, 7)
SEEN = Observation(CASE, sent=CASE.chunks, took_ms=3.0)
FINDING = Finding(
    1, "0a1b2c3d", "logged", ("java.lang.Error", "kafka.A.read"), "java.lang.Error: no", 2, 7,
    CASE.recipe, SEEN, b"", None,
)  # fmt: skip


def shown(**changes: object) -> list[str]:
    return text(replace(FINDING, observation=replace(SEEN, **changes)), "x.db").split("\n")  # type: ignore[arg-type]


def test_it_says_what_was_sent_expected_and_seen() -> None:
    lines = shown()
    assert lines[0].startswith("0a1b2c3d  logged: A.read throws Error on a topics count of ")
    assert "  expected: an error of the protocol, or a refusal that is meant" in lines
    assert "  came: java.lang.Error: no" in lines
    assert [line for line in lines if line.startswith("    > topics.count: 1  <-- counts: ")]
    at = lines.index(f"  sent, {len(CASE.chunks[0])} bytes:")
    assert lines[at + 2] == " " * 55 + "^^"
    assert lines[at + 4] == "          ^^ ^^ ^^"


def test_all_oracles_say_what_they_expect() -> None:
    assert [one.name for one in ORACLES if not one.expects] == []


def test_what_has_ended_has_no_connection() -> None:
    ended = shown(death=Death(-11, "panic"), probe=Probe(False, 1.0, "refused"))
    assert "  died: signal SIGSEGV, after 3.0 ms" in ended
    assert not any("connection:" in line or "probe:" in line for line in ended)
    open_ = shown(probe=Probe(False, 1.0, "timed out"))
    assert "  connection: open, after 3.0 ms" in open_
    assert "  probe: not answered: timed out" in open_


def test_what_is_long_is_cut_and_counted() -> None:
    long = "x" * 65536
    lines = shown(
        log=(f"ERROR {long}", "y\n" * 100), facts=(("said", long),), raised=long, replies=(bytes(65536),),
        death=Death(1, long),
    )  # fmt: skip
    assert max(map(len, lines)) < WIDTH + 40
    assert len(lines) < 200
    assert f"... {65536 + len('ERROR ') - WIDTH} more characters" in "\n".join(lines)
    assert "    ... 60 more lines" in lines
    assert "    ... 65024 more bytes" in lines


def test_what_was_shrunk_is_told_from_what_came() -> None:
    finding = replace(FINDING, smaller=Recipe(SEED, ()))
    lines = text(finding, "x.db").split("\n")
    assert "  the response is that of case 7, before shrinking" in lines
    assert f"  sent if it is replayed, {len(SEED.frame) + 4} bytes:" in lines
    assert not any(line.startswith("    > ") for line in lines)


def test_what_another_version_made_is_shown_as_it_was_sent() -> None:
    gone = Recipe(SEED, (Change("gone", "topics.count", 1),))
    lines = text(replace(FINDING, smaller=gone), "x.db").split("\n")
    assert f"  sent before shrinking, {len(CASE.chunks[0])} bytes:" in lines


def test_who_stands_for_one_that_was_not_made_smaller_is_said() -> None:
    stands = replace(FINDING, name="fedcba98")
    said = "  not made smaller: fedcba98, of the same root cause, is shrunk instead"
    assert said in text(replace(FINDING, smaller=None), "x.db", stands).split("\n")
    yet = text(replace(FINDING, smaller=None), "x.db", replace(FINDING, smaller=None))
    assert "not made smaller yet" in yet


LONG = bytes(range(256)) * 256


def test_what_is_long_is_cut_around_the_place() -> None:
    for span in (None, (3, 5), (30000, 30004), (65000, 65536), (65536, 65536)):
        place = None if span is None else MarkedBytes(*span)
        rows = list(dump(LONG, place))
        assert len(rows) < 80
        left = sum(int(row.split()[1]) for row in rows if row.startswith("... "))
        bytes_shown = sum(len(row[6:53].split()) for row in rows if row[:3] not in ("   ", "..."))
        assert left + bytes_shown == len(LONG)
        assert bytes_shown <= BYTES
        assert any(row.startswith("   ") for row in rows) is (place is not None)
