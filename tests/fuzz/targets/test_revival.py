"""Of a process that left a probe unanswered, an end is waited for."""

from __future__ import annotations

import pytest

from barnabas.fuzz.cases.observation import Death, Probe
from barnabas.fuzz.targets.probing import Prober
from barnabas.fuzz.targets.revival import Revival


class Lives:
    """A service that goes on. looked: how often it was asked whether it has ended."""

    looked = 0

    def death(self) -> Death | None:
        """None."""
        self.looked += 1
        return None


class Clock:
    """Time passes only while somebody sleeps."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_it_is_waited_for_once_until_a_probe_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.fuzz.targets.revival.time", Clock())
    service = Lives()
    revival = Revival(service, Prober(), lambda: None)  # type: ignore[arg-type]
    waited = []
    for answered in (True, False, False, True, False):
        before = service.looked
        assert revival.death(Probe(answered, 1.0)) is None
        waited.append(service.looked - before > 1)
    assert waited == [False, True, False, False, True]
