"""The golden corpus: complete, valid by our codecs, and read as Kafka's own classes read it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from barnabas.fuzz.golden.corpus import GoldenCorpus, all_versions, golden_corpus
from barnabas.fuzz.golden.frames import FEWEST, GoldenFrame
from barnabas.fuzz.golden.kafka import Reading
from barnabas.specs import api
from barnabas.specs.headers import header_codec
from barnabas.specs.kafka_json import kafka_json
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import read
from tests.golden.frames import golden_codec, golden_frames, golden_lines

SEED = 7
FEWEST_POPULATED = 3


def _corpus(*names: str) -> GoldenCorpus:
    versions = {api(name).key: all_versions()[api(name).key] for name in names}
    return golden_corpus(SEED, versions, lambda _: None)


@pytest.fixture(scope="module")
def corpus() -> GoldenCorpus:
    return golden_corpus(SEED, all_versions(), lambda _: None)


def _message(frame: GoldenFrame) -> tuple[int, int, str]:
    return frame.key, frame.version, frame.direction


def test_every_message_has_populated_and_malformed_frames(corpus: GoldenCorpus) -> None:
    populated = Counter(
        _message(frame)
        for frame in corpus.frames
        if frame.values is not None and frame.case != "defaults"
    )
    malformed = Counter(_message(frame) for frame in corpus.frames if frame.values is None)
    messages = {
        (key, version, direction)
        for key, versions in all_versions().items()
        for version in versions
        for direction in ("request", "response")
    }
    assert populated.keys() == malformed.keys() == messages
    assert min(populated.values()) >= FEWEST_POPULATED
    assert min(malformed.values()) >= FEWEST
    assert len({frame.name for frame in corpus.frames}) == len(corpus.frames)
    kinds = Counter((*_message(frame), frame.frame) for frame in corpus.frames)
    assert not [kind for kind, count in kinds.items() if count > 1], "each frame is another one"


def test_valid_frames_hold_the_values_that_their_json_says(corpus: GoldenCorpus) -> None:
    for frame in corpus.frames:
        if frame.values is None:
            continue
        codec = api(frame.key).message(frame.direction).codec(frame.version)
        header, body = frame.frame[: frame.header_size], frame.frame[frame.header_size :]
        assert header_codec(frame.direction, frame.key, frame.version).inspect(header)[1] == []
        values, oddities = codec.inspect(body)
        assert oddities == [], frame.name
        assert repr(kafka_json(values, codec.layout)) == repr(frame.values), frame.name


def test_cases_reach_their_edges() -> None:
    by_case: dict[str, Any] = {
        frame.case: frame.values
        for frame in _corpus("Fetch").frames
        if (frame.version, frame.direction) == (17, "request") and frame.values is not None
    }
    assert by_case["nulls-all"]["topics"][0]["partitions"][0]["partition"] is not None
    assert by_case["empties"]["topics"] == []
    assert by_case["largest"]["maxWaitMs"] == 2**31 - 1
    assert by_case["smallest"]["topics"][0]["partitions"][0]["fetchOffset"] == -(2**63)
    assert "_unknownTaggedFields" in by_case["unknown-tags"]
    assert "clusterId" in by_case["full"], "a tagged field"
    assert by_case["defaults"]["topics"] == []


def test_json_is_that_of_kafkas_own_converters() -> None:
    for frame in golden_frames("request", "response", "header", "data"):
        codec = golden_codec(frame)
        values = codec.decode(bytes.fromhex(frame["hex"]))
        assert kafka_json(values, codec.layout) == frame["json"], (frame["api"], frame["case"])


def test_equal_seeds_give_equal_frames_and_others_do_not() -> None:
    one, other = (_corpus("Metadata", "JoinGroup").frames for _ in range(2))
    assert one == other
    versions = {3: all_versions()[3]}
    frames = golden_corpus(SEED, versions, lambda _: None).frames
    assert frames == [frame for frame in one if frame.key == 3], "whatever other APIs are chosen"
    assert golden_corpus(SEED + 1, versions, lambda _: None).frames != frames


def test_malformed_frames_are_read_or_refused_as_by_kafka() -> None:
    accepted = Counter[bool]()
    for line in golden_lines("malformed-frames"):
        if line["change"].startswith("header."):
            continue
        codec = api(line["api"]).message(line["direction"]).codec(line["version"])
        try:
            codec.decode(bytes.fromhex(line["hex"]))
            read_by_us = True
        except Malformed as problem:
            read_by_us = False
            if "tagged fields" in str(problem) and line["kafka"]["release"] < "4.1":
                continue  # Kafka read a negative number as none
        assert read_by_us == line["kafka"]["parsed"], line
        accepted[read_by_us] += 1
    assert min(accepted[True], accepted[False]) > 3000


def test_malformed_record_sets_are_read_or_refused_as_by_kafka() -> None:
    accepted = Counter[bool]()
    for line in golden_lines("malformed-records"):
        count, read_by_us = 0, True
        try:
            for batch in read(bytes.fromhex(line["hex"])):
                read_by_us = read_by_us and batch.crc_ok
                count += len(batch.records()) if read_by_us else 0
        except Malformed:
            read_by_us = False
        assert read_by_us == line["kafka"]["parsed"], line
        assert not read_by_us or count == line["kafka"]["records"]
        accepted[read_by_us] += 1
    assert min(accepted[True], accepted[False]) > 100


def test_frames_that_kafka_reads_otherwise_are_named() -> None:
    corpus = _corpus("Heartbeat")
    valid = [frame.name for frame in corpus.frames if frame.values is not None]
    good = {name: Reading("4.4.0", same=True) for name in valid}
    corpus.readings = good
    assert corpus.disputed == []
    corpus.readings = good | {
        valid[0]: Reading("4.4.0", "java.lang.RuntimeException"),
        valid[1]: Reading("4.4.0", remaining=1, same=True),
    }
    corpus.set_readings = {corpus.sets[0].case: Reading("4.4.0", records=0)}
    assert corpus.disputed == [valid[0], valid[1], corpus.sets[0].case]
