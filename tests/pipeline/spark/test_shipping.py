"""What remote workers are sent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.pipeline.spark.shipping import missing, pack


def test_python_imports_all_of_it_from_the_zip_alone(tmp_path: Path) -> None:
    path = pack(tmp_path / "ours.zip")
    code = (
        "import sys, barnabas.captures.kafka.conversations, barnabas.pipeline.rows.columns\n"
        "import barnabas.specs.registry\n"
        "barnabas.specs.registry.api(3).request.codec(1)\n"
        f"assert all({str(path)!r} in sys.modules[name].__file__"
        " for name in ('barnabas.specs', 'barnabas.captures'))\n"
    )
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, cwd=tmp_path, env={"PYTHONPATH": str(path)}
    )


def test_what_can_not_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("crc32c", "cramjam"):
        monkeypatch.setitem(sys.modules, name, None)
    assert missing() == ["cramjam", "crc32c"]
