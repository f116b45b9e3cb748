"""Keys of TLS that are given beside a capture, not in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import Secrets
from barnabas.pipeline.tables.tables import write
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


CAPTURE = SAMPLES / "tls.pcapng"


def test_they_are_used_as_those_in_the_file(spark: SparkSession, tmp_path: Path) -> None:
    with CaptureFile(CAPTURE) as file:
        (log,) = (block.key_log for block in file.blocks() if isinstance(block, Secrets))
    whole = CAPTURE.read_bytes()
    bare = tmp_path / "bare.pcapng"
    bare.write_bytes(_without_secrets(whole))
    assert log not in bare.read_bytes()
    assert write(spark, [bare], tmp_path / "none").exchanges == 0
    assert write(spark, [bare], tmp_path / "given", secrets=[bytes(log)]).exchanges == 8


def _without_secrets(whole: bytes) -> bytes:
    """A pcapng file of this byte order without its Decryption Secrets Blocks (type 10)."""
    kept, at = [], 0
    while at < len(whole):
        kind = int.from_bytes(whole[at : at + 4], "little")
        size = int.from_bytes(whole[at + 4 : at + 8], "little")
        if kind != 10:
            kept.append(whole[at : at + size])
        at += size
    return b"".join(kept)
