"""What a program in Go is built of; a real build is part of the tests of the programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.peers.clients import golang


def test_nothing_of_an_earlier_build_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: "go")
    built: list[set[str]] = []

    def run(what: str, line: list[str], *, within: Path, environment: dict[str, str]) -> None:
        built.append({source.name for source in within.glob("*.go")})

    monkeypatch.setattr(golang, "run", run)
    place = tmp_path / "barnabas" / "clients" / "sarama-1.46.2-go"
    place.mkdir(parents=True)
    (place / "renamed.go").touch()
    golang.go_program("sarama", "github.com/IBM/sarama", "1.46.2")
    ours = [*golang.SOURCES.glob("*.go"), *(golang.SOURCES / "sarama").glob("*.go")]
    assert built == [{source.name for source in ours}] * 2
