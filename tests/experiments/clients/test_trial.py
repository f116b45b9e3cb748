"""What a trial needs before its client begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.experiments.clients import trial
from barnabas.experiments.clients.trial import Place, prepare
from barnabas.experiments.clients.workloads import find


@pytest.mark.parametrize("makes", [True, False])
def test_brokers_that_are_gone_are_told_with_a_reason(
    makes: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(trial, "SOON", 0.2)
    gone = Place("127.0.0.1:1", tmp_path, makes)
    with pytest.raises(OSError, match=r"^127\.0\.0\.1:1 has not made t: \S+"):
        prepare(gone, "t", find("produce"))
