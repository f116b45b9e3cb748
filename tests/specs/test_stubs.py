"""The types of bodies: what mypy makes of them, and whether what codecs decode is of them."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs import stubs
from tests.golden.frames import BY_API
from tests.places import ROOT

PROGRAM = """
from typing import TYPE_CHECKING, cast
from barnabas import specs
if TYPE_CHECKING:
    from kafka_types import FetchRequest

codec = specs.api("Fetch").request.codec(12)
values = cast("FetchRequest", codec.decode(b""))
offset: int = values["topics"][0]["partitions"][0]["fetch_offset"]
cluster: str | None = values.get("cluster_id")
codec.encode(values)
"""


@pytest.fixture(scope="module")
def declared() -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(compile(stubs.text(), "types.pyi", "exec", dont_inherit=True), found)
    return found


def problems(value: Any, annotation: Any, path: str) -> list[str]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is types.UnionType:
        each = [problems(value, one, path) for one in arguments]
        return [] if [] in each else each[0]
    if origin is list and isinstance(value, list):
        return [line for item in value for line in problems(item, arguments[0], f"{path}[]")]
    if origin is dict:
        return [] if isinstance(value, dict) else [f"{path}: {value!r}"]
    if typing.is_typeddict(annotation) and isinstance(value, dict):
        hints = typing.get_type_hints(annotation)
        odd = value.keys() - annotation.__annotations__.keys()
        missing = annotation.__required_keys__ - value.keys()
        inner = [
            line
            for name, item in value.items()
            if name in hints
            for line in problems(item, hints[name], f"{path}.{name}")
        ]
        return [f"{path}.{name}" for name in sorted(odd | missing)] + inner
    return (
        [] if type(value) is annotation or value is annotation is None else [f"{path}: {value!r}"]
    )


@pytest.mark.parametrize("name", BY_API)
def test_every_frame_is_of_the_type_of_its_message(name: str, declared: dict[str, Any]) -> None:
    for frame in BY_API[name]:
        if frame["direction"] != "header":
            message = specs.api(frame["key"]).message(frame["direction"])
            values = message.codec(frame["version"]).decode(bytes.fromhex(frame["hex"]))
            assert problems(values, declared[message.name], message.name) == []


def test_what_is_always_there_and_what_only_some_versions_have(declared: dict[str, Any]) -> None:
    partition = declared["FetchRequestTopicsPartitions"]
    assert "fetch_offset" in partition.__required_keys__
    assert "high_watermark" in partition.__optional_keys__
    both = declared["ConsumerGroupHeartbeatRequest"]
    assert "subscribed_topic_regex" in both.__optional_keys__
    assert problems({"topics": 7}, declared["MetadataRequest"], "") == [".topics: 7"]


@pytest.mark.slow("mypy runs")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("", ""),
        ('values["topics"][0]["partitons"]', 'has no key "partitons"'),
        ('text: str = values["max_wait_ms"]', "Incompatible types in assignment"),
    ],
)
def test_mypy_finds_what_is_wrong(wrong: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + wrong)
    command = [sys.executable, "-m", "barnabas.specs.stubs", str(tmp_path / "kafka_types.pyi")]
    subprocess.run(command, check=True)
    checked = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--config-file=",
    ]
    done = subprocess.run(
        [*checked, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == bool(wrong), done.stdout + done.stderr
    assert said in done.stdout
