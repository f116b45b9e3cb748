from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.fuzz import campaigns, targets
from tests.barnabas.cli.fuzz.buggy import CAMPAIGN, KIND


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    kinds = (*targets.KINDS, KIND)
    monkeypatch.setattr(targets, "KINDS", kinds)
    known = campaigns.KNOWN._replace(targets=tuple(kind.name for kind in kinds))
    monkeypatch.setattr(campaigns, "KNOWN", known)
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN)
    monkeypatch.chdir(tmp_path)
    return path
