"""`barnabas analyze --follow`: what it says of a folder, and how it goes on with tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from barnabas.cli.analyze.follow import as_before, follow
from barnabas.cli.analyze.options import AnalyzeOptions
from barnabas.trouble import COULD_NOT_RUN, Trouble
from tests.places import SAMPLES


@pytest.mark.usefixtures("spark_of_commands")
def test_a_folder_of_which_nothing_could_be_read_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    shutil.copy(SAMPLES / "faults.pcapng", captures)  # no segment of a proxy
    (captures / "other.pcapng").write_bytes(b"not a capture")
    with pytest.raises(Trouble) as raised:
        follow(
            AnalyzeOptions(
                captures=[str(captures)], out=str(tmp_path / "out"), follow=True, once=True
            )
        )
    assert raised.value.code == COULD_NOT_RUN
    assert str(raised.value) == (
        f"{captures} holds no segments written by a proxy: analyze it without --follow"
    )
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        f"left out, not a capture: {captures / 'other.pcapng'}",
        "batch 0 written",
    ]


@pytest.mark.parametrize(
    ("before", "wanted", "said"),
    [
        ((), "delta", "no --format"),
        (("delta",), None, "--format delta"),
    ],
)
def test_batches_go_on_in_the_format_of_those_before(
    tmp_path: Path, before: tuple[str, ...], wanted: str | None, said: str
) -> None:
    for kind in before:
        (tmp_path / kind).mkdir()
    with pytest.raises(Trouble, match=f"has batches with {said}: continue with that"):
        as_before(wanted, tmp_path)
    as_before(before[0] if before else None, tmp_path)
