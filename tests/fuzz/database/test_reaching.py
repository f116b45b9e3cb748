from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.coverage.lines import Lines, Unit
from barnabas.fuzz.database.findings import Findings, Reached
from barnabas.fuzz.engine.energy import MOST, of_fields
from barnabas.fuzz.engine.stats import Cell, Field, Stats

FILE, PARSER = Unit("p", "f", False), Unit("p", "f.read", True)


def test_what_is_kept_first_is_of_valid_messages_and_what_follows_adds_up(tmp_path: Path) -> None:
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "t", {}, 0.0)
        other = findings.campaign("d", "t", {}, 0.0)
        assert findings.reached(kept.id) == {}
        assert not kept.counted()
        kept.reached({FILE: Lines(1, 15)})
        assert kept.counted()
        assert not other.counted()
        kept.reached({FILE: Lines(2, 15), PARSER: Lines(1, 3)})
        kept.reached({FILE: Lines(4, 15), PARSER: Lines(0, 3)})
    with Findings(tmp_path / "f.db", write=False) as findings:
        assert findings.reached(kept.id) == {FILE: Reached(15, 1, 7), PARSER: Reached(3, 0, 1)}
        assert findings.reached(other.id) == {}


@pytest.mark.parametrize("settings", [{"coverage": "feedback"}, {}])
def test_fields_that_nothing_showed_get_energy_in_campaigns_with_feedback(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    silent, seen = Cell("Fetch", 4, "a", "null"), Cell("Fetch", 4, "b", "null")
    once = Stats(coverage=Counter({silent: 2, seen: 2}), as_valid=Counter({silent: 2, seen: 1}))
    often = Stats(coverage=Counter({silent: MOST}), as_valid=Counter({silent: MOST}))
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "t", settings, 0.0)
        kept.reached({FILE: Lines(1, 15)})
        assert of_fields(kept.energies(0)) == {}
        kept.keep(once, 10, 0)
        kept.end_round(0)
        given = {Field("Fetch", 4, "a"): MOST // 2} if settings else {}
        assert of_fields(kept.energies(1)) == given
        kept.keep(often, 20, 1)
        assert of_fields(kept.energies(1)) == given  # whoever runs the round again gets the same
        kept.end_round(1)
        assert of_fields(kept.energies(2)) == {}
