"""What docs/howto/spark.md says that other readers print, where they are installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.analyses import commits
from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.report.digests import DIGESTS
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.pipeline.rows.columns import arrow
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.schemas import TABLES
from barnabas.pipeline.tables.tables import TableOptions, write
from tests.places import ROOT, SAMPLES

TEXT = (ROOT / "docs" / "howto" / "spark.md").read_text("utf-8")
PRINTED = r"```\n\n```\n(.*?)```"


def example(pattern: str) -> tuple[str, str]:
    """A command, and what stands below it."""
    found = re.search(pattern + PRINTED, TEXT, re.DOTALL)
    assert found, pattern
    return found[1], found[2]


def written(folder: Path, *, json_bodies: bool) -> None:
    options = TableOptions(bodies=Bodies(json=json_bodies))
    write(None, [SAMPLES / "rebalance.pcap.gz"], folder / "analysis", options)


def test_duckdb_knows_bodies_as_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    written(tmp_path, json_bodies=False)
    monkeypatch.chdir(tmp_path)
    query, printed = example(r'duckdb -c "([^\n]*)"\n')
    assert str(duckdb.sql(query)).strip() == printed.strip()


def test_duckdb_has_views_of_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    written(tmp_path, json_bodies=False)
    monkeypatch.chdir(tmp_path)
    of_spark = Path("analysis/analyses/commits")
    of_spark.mkdir(parents=True)
    pq.write_table(arrow(commits.COLUMNS).empty_table(), of_spark / "part.parquet")
    script, printed = example(r"duckdb <<'SQL'\n(.*?)SQL\n")
    *views, query = script.strip().split(";\n")
    connection = duckdb.connect()
    for view in views:
        connection.execute(view)
    assert str(connection.sql(query)).strip() == printed.strip()


def test_duckdb_answers_all_sql_of_the_report_but_what_the_document_names() -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    analyses = {f"analysis_{one.name}": one.columns for one in ANALYSES}
    for name, columns in {**TABLES, **analyses}.items():
        connection.register(name, arrow(columns).empty_table())
    refused = set()
    for digest in DIGESTS:
        try:
            connection.sql(digest.shown).fetchall()
        except duckdb.Error:
            refused.add(digest.name)
    titles = {one.title for one in SECTIONS if refused.intersection(one.results)}
    said = re.search(r"SQL, except that of ([^:]*):\n", TEXT)
    assert said
    assert set(re.findall(r"\*(.*?)\*", said[1])) == titles


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
