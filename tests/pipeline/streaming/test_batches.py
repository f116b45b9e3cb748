"""The state of a followed folder is read by the version that wrote it, and by no other."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.following import Following


def test_a_batch_begins_with_what_the_one_before_has_left(tmp_path: Path) -> None:
    batches = Batches(tmp_path)
    batches.check()
    assert batches.before(0) == Following()
    state = Following(done={"a"})
    batches.finish(batches.begin(0), 0, state)
    batches.check()
    assert batches.before(1) == state
    assert batches.over(0)
    assert not batches.over(1)


@pytest.mark.parametrize(
    "written", [pickle.dumps(Following()), b"barnabas state 1\n" + pickle.dumps(Following()), b""]
)
def test_the_state_of_another_version_is_refused(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "_state").mkdir()
    (tmp_path / "_state" / "000000000").write_bytes(written)
    with pytest.raises(ValueError, match="followed by another version of barnabas"):
        Batches(tmp_path).check()
