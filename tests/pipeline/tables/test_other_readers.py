"""What docs/howto/spark.md says that other readers print, where they are installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from barnabas.pipeline.tables.tables import write
from tests.places import ROOT, SAMPLES

TEXT = (ROOT / "docs" / "howto" / "spark.md").read_text("utf-8")
PRINTED = r"```\n\n```\n(.*?)```"


def example(pattern: str) -> tuple[str, str]:
    """A command, and what stands below it."""
    found = re.search(pattern + PRINTED, TEXT, re.DOTALL)
    assert found, pattern
    return found[1], found[2]


def written(folder: Path, *, json_bodies: bool) -> None:
    write(None, [SAMPLES / "rebalance.pcap.gz"], folder / "analysis", json_bodies=json_bodies)


def test_duckdb_knows_bodies_as_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    written(tmp_path, json_bodies=False)
    monkeypatch.chdir(tmp_path)
    query, printed = example(r'duckdb -c "([^\n]*)"\n')
    assert str(duckdb.sql(query)).strip() == printed.strip()


def test_polars_reads_bodies_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("polars")
    written(tmp_path, json_bodies=True)
    monkeypatch.chdir(tmp_path)
    program, printed = example(r"```py\n(import polars.*?)")
    exec(program, {})
    assert capsys.readouterr().out == printed


def test_polars_still_refuses_the_annotation(tmp_path: Path) -> None:
    """When this fails, the table of the document is to be written anew."""
    polars: Any = pytest.importorskip("polars")
    written(tmp_path, json_bodies=False)
    with pytest.raises(polars.exceptions.ComputeError, match="LogicalType union"):
        polars.read_parquet(tmp_path / "analysis" / "exchanges")
    assert len(polars.read_parquet(tmp_path / "analysis" / "quality")) == 1
