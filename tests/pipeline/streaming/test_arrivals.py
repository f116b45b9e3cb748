"""Each file of a folder that is followed is noted once, whatever becomes of its name."""

from __future__ import annotations

import gzip
from pathlib import Path

from barnabas.pipeline.streaming.arrivals import Arrivals
from tests.captures.split import pieces, split
from tests.places import SAMPLES

SOURCE = SAMPLES / "wrong.pcap"


def notes(out: Path) -> list[Path]:
    return sorted((out / "_batches").glob("[!.]*"))


def test_a_ring_of_files_is_read_once_and_whole(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    read = []
    for number, piece in enumerate(pieces(SOURCE, 10)):
        (folder / f"ring.pcap{number % 3}").write_bytes(piece)
        count = len(notes(out))
        arrivals = Arrivals(folder, out)  # as if it was started again
        arrivals.look()
        for batch in range(count, len(notes(out))):
            files = arrivals.batch(batch)
            assert files is not None
            assert not files.gone
            read += [path.read_bytes() for path in files.paths]
    assert read == list(pieces(SOURCE, 10))


def test_one_look_notes_all_in_the_order_of_their_times(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    files = split(SOURCE, folder, 10)
    arrivals = Arrivals(folder, out, at_once=3)
    arrivals.look()
    arrivals.look()
    batches = [arrivals.batch(number) for number in range(len(notes(out)))]
    assert [path for batch in batches if batch for path in batch.paths] == files
    assert [len(batch.paths) for batch in batches if batch][:-1] == [3] * (len(batches) - 1)
    assert arrivals.batch(len(batches)) is None
    assert Arrivals(folder, out).batch(1) == batches[1], "a batch that is repeated has its files"


def test_what_was_compressed_since_is_found_and_what_was_overwritten_is_not(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    one, other = split(SOURCE, folder, 100)[:2]
    arrivals = Arrivals(folder, out, at_once=2)
    arrivals.look()
    packed = one.with_name("seg.pcap.gz")
    packed.write_bytes(gzip.compress(one.read_bytes()))
    one.unlink()
    other.write_bytes(b"")
    assert arrivals.batch(0) == ([packed], [other])
    count = len(notes(out))
    arrivals.look()
    assert len(notes(out)) == count


def test_a_file_that_grows_after_it_was_noted_is_reported_once(tmp_path: Path) -> None:
    """As by a copy that was interrupted, and went on."""
    folder, out = tmp_path / "in", tmp_path / "out"
    one, other = split(SOURCE, folder, 100)[:2]
    whole = one.read_bytes()
    one.write_bytes(whole[: len(whole) // 2])
    grown: list[Path] = []
    arrivals = Arrivals(folder, out, grown.append)
    arrivals.look()
    count = len(notes(out))
    one.write_bytes(whole)
    other.write_bytes(other.read_bytes()[:24])
    arrivals.look()
    arrivals.look()
    assert grown == [one]
    Arrivals(folder, out, grown.append).look()
    assert grown == [one, one], "started again, it is reported again"
    assert len(notes(out)) == count
