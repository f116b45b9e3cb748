from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.captures.values.value import Values
from barnabas.cli.schemas.folder import from_folder
from barnabas.trouble import Trouble
from tests.captures.values import golden_values as golden


def text(path: str) -> str:
    return str(golden.ANSWERS[path]["schema"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "2.avsc").write_text(text("/schemas/ids/2"))
    (tmp_path / "3.json").write_text(text("/schemas/ids/3"))
    (tmp_path / "5.proto").write_text(text("/schemas/ids/5"))
    (tmp_path / "common.proto").write_text(text("/schemas/ids/4"))
    (tmp_path / "types").mkdir()
    (tmp_path / "types" / "money.avsc").write_text(text("/schemas/ids/1"))
    (tmp_path / "README.md").write_text("not a schema")
    return tmp_path


@pytest.mark.parametrize("name", [name for name in golden.READ if "guid" not in name])
def test_files_are_schemas_by_the_ids_in_their_names(folder: Path, name: str) -> None:
    data, headers = golden.VALUES[name]
    found = Values(from_folder(folder)).read(data, headers)
    assert (found.kind, found.value) == golden.READ[name]


def test_a_file_may_be_named_by_a_guid(folder: Path) -> None:
    data, headers = golden.VALUES["avro, guid in a header"]
    (folder / "2.avsc").rename(folder / "e8f31a3c-2582-4436-a16c-2ab23e40ac66.avsc")
    assert Values(from_folder(folder)).read(data, headers).value == golden.AVRO


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("7.avsc", b"{", "no Avro type"),
        ("7.proto", b"message {", "protoc: barnabas_main.proto:1:9"),
        ("7.proto", b'import "no.proto";', "no.proto"),
        ("7.avsc", b"\xff", "not UTF-8"),
        ("8.json", bytes(1 << 21), "longer than 1 MiB"),
        ("other.avsc", b'"int"', "the folder has no schemas"),
    ],
)
def test_what_is_no_schema_is_said(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Trouble, match=said):
        from_folder(tmp_path)
