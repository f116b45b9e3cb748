"""The SQL of the page on DuckDB runs, on what `decode --json` writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from tests.places import ROOT, SAMPLES

PAGE = ROOT / "docs/howto/duckdb.md"


def blocks() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("sample", ["sasl.pcapng", "kip-848.pcapng", "old-formats.pcap"])
def test_each_query_of_the_page_runs_and_most_have_an_answer(
    sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["decode", "--json", str(SAMPLES / sample)])
    Path("exchanges.jsonl").write_text(result.stdout, "utf-8")
    connection = duckdb.connect()
    view, *questions = blocks()
    connection.execute(view)
    answers = {
        text: connection.execute(text).fetchall()
        for question in questions
        for text in question.split(";\n")
        if text.strip()
    }
    empty = [text for text, rows in answers.items() if not rows]
    assert all("throttle" in text or "refused" in text for text in empty)
    (writers,) = (rows for text, rows in answers.items() if "topic_data" in text)
    assert ("orders", "Produce", "writer") in {row[:3] for row in writers}
    lines = map(json.loads, result.stdout.splitlines())
    sizes = [line["request_size"] for line in lines if line["api"] == "Produce"]
    assert sum(row[5] for row in writers if row[1] == "Produce") == sum(sizes)  # of one topic each
