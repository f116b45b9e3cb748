"""Keys of TLS that are given beside a capture, not in it."""

from __future__ import annotations

from pathlib import Path

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import Secrets
from barnabas.pipeline.tables.tables import TableOptions, write
from tests.places import SAMPLES

CAPTURE = SAMPLES / "tls.pcapng"


def test_they_are_used_as_those_in_the_file(tmp_path: Path) -> None:
    with CaptureFile(CAPTURE) as file:
        (log,) = (block.key_log for block in file.blocks() if isinstance(block, Secrets))
    whole = CAPTURE.read_bytes()
    bare = tmp_path / "bare.pcapng"
    at = whole.index(log) - 16  # the head of its block
    bare.write_bytes(whole[:at] + whole[at + int.from_bytes(whole[at + 4 : at + 8], "little") :])
    assert log not in bare.read_bytes()
    assert write(None, [bare], tmp_path / "none").exchanges == 0
    assert (
        write(None, [bare], tmp_path / "given", TableOptions(secrets=[bytes(log)])).exchanges == 8
    )
