"""The state of a followed folder is read by the version that wrote it, and by no other; it runs no code."""

from __future__ import annotations

import pickle
import zlib
from pathlib import Path

import pytest

from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.following import Following

HEAD = b"barnabas state 6\n"


def test_a_batch_begins_with_what_the_one_before_has_left(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    batches.check()
    assert batches.before(0) == Following()
    state = Following(done={"a"})
    batches.finish(batches.begin(0), 0, state)
    batches.check()
    assert batches.before(1) == state
    assert batches.count == 1


@pytest.mark.parametrize(
    "written", [pickle.dumps(Following()), b"barnabas state 3\n" + pickle.dumps(Following()), b""]
)
def test_the_state_of_another_version_is_refused(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "_state").mkdir()
    (tmp_path / "_state" / "000000000").write_bytes(written)
    with pytest.raises(ValueError, match="followed by another version of barnabas"):
        Batches(tmp_path).check()


def test_a_state_that_runs_code_when_unpickled_runs_none(tmp_path: Path) -> None:
    """Whoever wrote the folder has the right first line, and the checksum."""

    class Harm:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "harm",))

    text = pickle.dumps(Harm())
    (tmp_path / "_state").mkdir()
    for written in (HEAD + text, HEAD + b"%d\n%s" % (zlib.crc32(text), text)):
        (tmp_path / "_state" / "000000000").write_bytes(written)
        with pytest.raises(ValueError, match="left with a damaged state"):
            Batches(tmp_path).check()
        with pytest.raises(ValueError, match="left with a damaged state"):
            Batches(tmp_path).before(1)
    assert not (tmp_path / "harm").exists()


def test_a_state_is_whole_or_refused(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    batches.finish(batches.begin(0), 0, Following(done={"a"}))
    path = tmp_path / "_state" / "000000000"
    whole = path.read_bytes()
    changed = whole.replace(b'"a"', b'"b"')
    assert changed != whole
    for damaged in (changed, *(whole[:end] for end in range(len(HEAD), len(whole)))):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=f"left with a damaged state, {path}"):
            batches.check()
