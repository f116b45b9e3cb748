"""The files of tests/golden that a release's classes write: frames and definitions, anew."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.golden.bodies import CASES, body
from barnabas.fuzz.golden.corpus import all_versions, golden_corpus
from barnabas.fuzz.golden.files import frame_line, set_line
from barnabas.specs.kafka_json import UNKNOWN_TAGS, kafka_json
from tests.golden.frames import golden_message
from tests.golden.release.kafka import Release, class_of

FRAMES: Final = "golden-a.jsonl.gz"
DEFINITIONS: Final = "definitions.json.gz"

Ask = Callable[[Sequence[tuple[str, int, Any]]], list[dict[str, Any]]]
"""Has messages written: (class, version, values) each; gives `hex` and `json` of each."""


def write(folder: Path, release: Release, seed: int, ask: Ask) -> int:
    """Write both files anew; gives the number of frames that this release's classes wrote.

    What only older releases have stays as it is. The same release and seed give the same bytes.
    """
    path = folder / FRAMES
    kept = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    made = frames_of_cases(release, seed, _record_sets(folder), ask)
    have = {_place(frame)[:-1] for frame in made}
    merged = [*made, *(frame for frame in kept if _place(frame)[:-1] not in have)]
    merged.sort(key=_place)
    _pack(path, "".join(_line(frame) + "\n" for frame in merged))
    path = folder / DEFINITIONS
    known = json.loads(gzip.decompress(path.read_bytes()))
    _pack(path, _line(with_release(known, release.version, release.definitions)) + "\n")
    return len(made)


def write_malformed(folder: Path, seed: int) -> int:
    """Write the malformed frames and record sets of the golden corpus anew; gives their number."""
    corpus = golden_corpus(seed, all_versions(), lambda _: None)
    corpus.ask_kafka(lambda _: None)
    frames = [
        _line(frame_line(frame, corpus.readings[frame.name])) + "\n"
        for frame in corpus.frames
        if frame.values is None
    ]
    sets = [
        _line(set_line(each, corpus.set_readings[each.case])) + "\n"
        for each in corpus.sets
        if each.batches is None
    ]
    _pack(folder / "malformed-frames.jsonl.gz", "".join(frames))
    _pack(folder / "malformed-records.jsonl.gz", "".join(sets))
    return len(frames) + len(sets)


def newest(folder: Path) -> str:
    """The newest release that the definitions are of."""
    known = json.loads(gzip.decompress((folder / DEFINITIONS).read_bytes()))
    return str(known["releases"][-1])


def frames_of_cases(
    release: Release, seed: int, records: Sequence[bytes], ask: Ask
) -> list[dict[str, Any]]:
    """A frame of each case of each version of each message that is declared here, too."""
    rows, asked = [], []
    for name, schemas in release.schemas.items():
        definition = release.definitions[name]
        direction = definition["type"]
        api = name.removesuffix(direction.title()) if "apiKey" in definition else name
        row = {"api": api, "key": definition.get("apiKey", -1), "direction": direction}
        for version in map(int, schemas["versions"]):
            try:
                layout = golden_message(row).layout(version)
            except LookupError:
                continue  # it is among the differences
            for number, case in enumerate(CASES):
                if case.unknown and not layout.flexible:
                    continue
                dice = SeededRandom(f"{seed} {name} {version}", number)
                form = kafka_json(body(layout, case, dice, records), layout)
                rows.append(
                    row | {"version": version, "case": case.name, "flexible": layout.flexible}
                )
                asked.append((class_of(definition), version, form))
    return [
        row | {"hex": told["hex"], "json": completed(told["json"], given), "kafka": release.version}
        for row, told, (_, _, given) in zip(rows, ask(asked), asked, strict=True)
    ]


def completed(said: Any, given: Any) -> Any:
    """What a converter said of a message, with what it leaves out: unknown tags, the bytes of records."""
    if isinstance(said, dict):
        found = {name: completed(value, given.get(name)) for name, value in said.items()}
        tags = {name: given[name] for name in (UNKNOWN_TAGS,) if given and name in given}
        return found | tags
    if isinstance(said, list):
        return [completed(one, other) for one, other in zip(said, given, strict=True)]
    return given if said == "" else said


def with_release(
    known: dict[str, Any], version: str, definitions: dict[str, Any]
) -> dict[str, Any]:
    """The definitions of all releases, with those of one more, or of a newer patch of one.

    Releases in a row that have the same are one entry.
    """
    releases = [one for one in known["releases"] if _minor(one) != _minor(version)]
    releases = sorted([*releases, version], key=_numbers)
    messages: dict[str, Any] = {}
    for name in sorted(known["messages"].keys() | definitions.keys()):
        old = known["messages"].get(name, {"defs": []})["defs"]
        entries: list[dict[str, Any]] = []
        before = None
        for one in releases:
            found = definitions.get(name) if one == version else _at(old, one)
            if found is not None and found == before:
                entries[-1]["to"] = one
            elif found is not None:
                entries.append({"from": one, "to": one, "def": found})
            before = found
        if entries:
            last = entries[-1]["def"]
            about = {of: last[of] for of in ("type", "apiKey") if of in last}
            messages[name] = about | {"defs": entries}
    return {"releases": releases, "messages": messages}


def _at(entries: list[dict[str, Any]], release: str) -> Any:
    for one in entries:
        if _numbers(one["from"]) <= _numbers(release) <= _numbers(one["to"]):
            return one["def"]
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _minor(version: str) -> tuple[int, ...]:
    return _numbers(version)[:2]


def _record_sets(folder: Path) -> list[bytes]:
    """Small sets of today's format that Kafka's classes wrote."""
    lines = gzip.decompress((folder / "records-a.jsonl.gz").read_bytes()).splitlines()
    sets = [bytes.fromhex(json.loads(line)["hex"]) for line in lines]
    return [one for one in sets if 61 <= len(one) < 200 and one[16] == 2]


def _place(frame: dict[str, Any]) -> tuple[int, str, str, int, str]:
    return frame["key"], frame["api"], frame["direction"], frame["version"], frame["case"]


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _pack(path: Path, text: str) -> None:
    # another zlib packs otherwise
    if not path.exists() or gzip.decompress(path.read_bytes()) != text.encode():
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
