"""The files of a golden corpus: frames and record sets with their values, and seeds for fuzzers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from barnabas.fuzz.golden.corpus import GoldenCorpus
from barnabas.fuzz.golden.frames import GoldenFrame
from barnabas.fuzz.golden.kafka import Reading
from barnabas.fuzz.golden.record_sets import RecordSet
from barnabas.specs.registry import api

FileFormat = Literal["files", "jsonl"]

_GO_ESCAPES: Final = {ord('"'): '\\"', ord("\\"): "\\\\"}


def write_corpus(corpus: GoldenCorpus, folder: Path, file_format: FileFormat) -> None:
    """Write a corpus into an existing, empty folder. Raises OSError."""
    write = _write_files if file_format == "files" else _write_lines
    write(corpus, folder)
    _write_seeds(corpus, folder)
    text = json.dumps(corpus.manifest, indent=1)
    (folder / "manifest.json").write_text(text + "\n")


def frame_line(frame: GoldenFrame, reading: Reading | None) -> dict[str, Any]:
    """Return a frame as JSON: the bytes in hex, the values in Kafka's JSON form, and how Kafka reads it."""
    declaration, size = api(frame.key), frame.header_size
    line: dict[str, Any] = {
        "api": declaration.name,
        "key": frame.key,
        "direction": frame.direction,
        "version": frame.version,
        "case": frame.case,
        "flexible": declaration.message(frame.direction).layout(frame.version).flexible,
        "header": frame.frame[:size].hex(),
        "hex": frame.frame[size:].hex(),
    }
    if frame.values is None:
        return line | {"change": frame.change, "kafka": _reading_json(reading)}
    return line | {"json": frame.values, "kafka": None if reading is None else reading.release}


def set_line(each: RecordSet, reading: Reading | None) -> dict[str, Any]:
    """Return a record set as JSON."""
    line = {"case": each.case, "hex": each.data.hex()}
    if each.batches is None:
        return line | {"change": each.change, "kafka": _reading_json(reading)}
    return line | {"batches": each.batches, "kafka": None if reading is None else reading.release}


def _reading_json(reading: Reading | None) -> dict[str, Any] | None:
    """Return how Kafka reads malformed bytes; None if it was not asked."""
    if reading is None:
        return None
    form: dict[str, Any] = {"release": reading.release, "parsed": not reading.exception}
    if reading.exception:
        return form | {"exception": reading.exception, "message": reading.message}
    if reading.records is not None:
        return form | {"records": reading.records}
    return form | {"remaining": reading.remaining, "same": reading.same}


def _lines(corpus: GoldenCorpus) -> Iterator[tuple[str, Path, bytes, dict[str, Any]]]:
    """Yield the file of the JSON lines, the path of the frame, its bytes and its JSON."""
    for frame in corpus.frames:
        line = frame_line(frame, corpus.readings.get(frame.name))
        kind = "frames" if frame.values is not None else "malformed"
        path = Path(kind, line["api"], f"v{frame.version}", f"{frame.direction}-{frame.case}")
        yield f"{kind}.jsonl", path, frame.frame, line
    for each in corpus.sets:
        line = set_line(each, corpus.set_readings.get(each.case))
        kind = "records" if each.batches is not None else "malformed-records"
        yield f"{kind}.jsonl", Path(kind, each.case), each.data, line


def _write_files(corpus: GoldenCorpus, folder: Path) -> None:
    for _, path, data, line in _lines(corpus):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.with_name(f"{target.name}.bin").write_bytes(data)
        text = json.dumps(line, ensure_ascii=False, indent=1)
        target.with_name(f"{target.name}.json").write_text(text + "\n", encoding="utf-8")


def _write_lines(corpus: GoldenCorpus, folder: Path) -> None:
    texts: dict[str, list[str]] = {}
    for name, _, _, line in _lines(corpus):
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        texts.setdefault(name, []).append(text + "\n")
    for name, lines in texts.items():
        (folder / name).write_text("".join(lines), encoding="utf-8")


class _FuzzSeed(NamedTuple):
    """A seed of a fuzzer: its folders, its name, the bytes for libFuzzer and the arguments for Go."""

    kind: str
    function: str
    name: str
    data: bytes
    arguments: str


def _write_seeds(corpus: GoldenCorpus, folder: Path) -> None:
    """Write the valid frames and sets as corpora of libFuzzer and of Go's fuzzer."""
    for seed in _seeds(corpus):
        file = folder / "libfuzzer" / seed.kind / seed.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(seed.data)
        file = folder / "go" / seed.function / seed.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"go test fuzz v1\n{seed.arguments}\n")


def _seeds(corpus: GoldenCorpus) -> Iterator[_FuzzSeed]:
    """Yield the seeds of a corpus.

    Responses do not name their API and version. In libFuzzer's files the key and the version come before
    the frame, two bytes each; in Go's they are arguments before it.
    """
    for frame in corpus.frames:
        data, go_bytes = frame.frame, f"[]byte({_go_text(frame.frame)})"
        if frame.values is None:
            continue
        if frame.direction == "request":
            yield _FuzzSeed("requests", "FuzzRequest", frame.name, data, go_bytes)
        else:
            prefix = frame.key.to_bytes(2) + frame.version.to_bytes(2)
            arguments = f"int16({frame.key})\nint16({frame.version})\n{go_bytes}"
            yield _FuzzSeed("responses", "FuzzResponse", frame.name, prefix + data, arguments)
    for each in corpus.sets:
        if each.batches is not None:
            arguments = f"[]byte({_go_text(each.data)})"
            yield _FuzzSeed("records", "FuzzRecords", each.case, each.data, arguments)


def _go_text(data: bytes) -> str:
    r"""Return bytes as a string literal of Go.

    >>> print(_go_text(b'a"\x00'))
    "a\"\x00"
    """
    escaped = (
        chr(byte).translate(_GO_ESCAPES) if 32 <= byte < 127 else f"\\x{byte:02x}" for byte in data
    )
    return f'"{"".join(escaped)}"'
