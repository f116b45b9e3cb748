"""A pair scores by a finding that fires on the old release and not on the fixed one: on fake targets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.fuzz import targets
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.database.findings import Finding
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.fuzz.targets.registry import TargetKind
from tests.rediscover import scoring
from tests.rediscover.pairs import Pair

CAMPAIGN = """\
version: 1
target: fake:old
seed: 1
apis: [Heartbeat]
corpora: [generated]
oracles: [undocumented]
budget: {cases: 100}
round: 50
"""


def read(case: Case, mended: bool) -> Mapping[str, Any]:
    """Two bugs: of responses, and of requests; the second is in every release."""
    if case.recipe.seed.direction == "request":
        raise KeyError("in every release")
    if not mended:
        raise ZeroDivisionError("in the old one")
    return {}


def make(text: str, own: bool) -> DecoderTarget:
    return DecoderTarget(f"fake {text}", lambda case: read(case, text == "fixed"), ())


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    kinds = (*targets.KINDS, TargetKind("fake", "decoder", "with a bug", "fake:old", make))
    monkeypatch.setattr(targets, "KINDS", kinds)
    monkeypatch.setattr("barnabas.cli.fuzz.campaigns.KNOWN", _known(kinds))
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN)
    return path


def _known(kinds: tuple[TargetKind, ...]) -> Any:
    from barnabas.cli.fuzz.campaigns import KNOWN

    return KNOWN._replace(targets=tuple(kind.name for kind in kinds))


def raised(name: str) -> Any:
    def is_it(finding: Finding) -> bool:
        return finding.behaviour[0] == name

    return is_it


def test_what_fires_on_the_old_release_alone_scores_and_the_rest_is_counted(
    campaign: Path, tmp_path: Path
) -> None:
    about = (str(campaign), "fake:old", "fake:fixed", "nobody")
    pairs = (
        Pair("mended", *about, raised("ZeroDivisionError")),
        Pair("still there", *about, raised("KeyError")),
        Pair("nobody's", *about, raised("ValueError")),
    )
    said: list[str] = []
    mended, there, nobodys = scoring.score(pairs, tmp_path, 100, said.append)
    assert mended.scored
    assert mended.found_at is not None
    assert mended.found_at < 50
    assert mended.oracle == "undocumented"
    assert [one.scored for one in (there, nobodys)] == [False, False]
    assert [one.also for one in (mended, there, nobodys)] == [1, 1, 1]
    assert [one.ran for one in (mended, there, nobodys)] == [100, 100, 100]
    assert any(f"mended: {mended.finding} at case {mended.found_at}" == line for line in said)


def test_a_campaign_ends_when_all_of_its_pairs_have_scored(campaign: Path, tmp_path: Path) -> None:
    one = Pair("mended", str(campaign), "fake:old", "fake:fixed", "x", raised("ZeroDivisionError"))
    (score,) = scoring.score([one], tmp_path, 100, lambda line: None)
    assert score.scored
    assert score.ran < 100
