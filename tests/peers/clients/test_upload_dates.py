"""Old releases in Python are installed with the dependencies of their date."""

from __future__ import annotations

import io
import json
import subprocess
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers.clients import python
from barnabas.peers.clients.registry import find
from barnabas.peers.clients.upload_dates import uploaded, uploaded_on

DATE = datetime(2021, 9, 2, 10, 47, 38, tzinfo=UTC)
PAGE = {
    "files": [
        {"filename": "aiokafka-0.7.2-cp39-cp39-win32.whl", "upload-time": "2021-09-02T10:47:05Z"},
        {"filename": "aiokafka-0.7.2.tar.gz", "upload-time": "2021-09-02T10:47:38Z"},
        {"filename": "aiokafka-0.7.20.tar.gz", "upload-time": "2024-01-01T00:00:00Z"},
        {"filename": "aiokafka-0.6.0.tar.gz"},
    ]
}


def test_the_last_upload_of_the_release_itself_counts() -> None:
    assert uploaded_on(PAGE, "0.7.2") == DATE
    assert uploaded_on(PAGE, "0.6.0") is None
    assert uploaded_on(PAGE, "1.0") is None


@pytest.mark.parametrize(
    ("page", "date"), [(json.dumps(PAGE).encode(), DATE), (b"<html>an index in HTML</html>", None)]
)
def test_the_users_index_is_asked(
    page: bytes, date: datetime | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses: list[str] = []

    def urlopen(request: urllib.request.Request, timeout: float) -> io.BytesIO:
        addresses.append(request.full_url)
        return io.BytesIO(page)

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    assert uploaded("aiokafka", "0.7.2", "global.index-url='https://example.org/simple'\n") == date
    assert addresses == ["https://example.org/simple/aiokafka/"]


@pytest.mark.parametrize("date", [DATE, None])
def test_only_dependencies_are_of_that_date(
    date: datetime | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines: list[list[str]] = []

    def run(task: str, line: list[str], **_: Any) -> str:
        lines.append(line[line.index("-m") + 1 :])
        return ""

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(python, "run", run)
    monkeypatch.setattr(python, "uploaded", lambda *_: date)
    find("aiokafka@0.7.2").prepare()
    until = "--uploaded-prior-to=2021-09-03T10:47:38+00:00"
    dated = [line for line in lines if until in line]
    assert [line[-1] for line in dated] == (["aiokafka==0.7.2"] if date else [])
    assert lines[-1] == ["pip", "install", "--quiet", "aiokafka[lz4,snappy,zstd]==0.7.2"]


@pytest.mark.slow("installs aiokafka 0.7.2")
@pytest.mark.timeout(300)
def test_an_old_release_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    interpreter = find("aiokafka@0.7.2").prepare().line[0]
    line = [interpreter, "-c", "import aiokafka, kafka; print(kafka.__version__)"]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "2.0.2\n"
