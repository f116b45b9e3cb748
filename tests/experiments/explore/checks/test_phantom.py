from __future__ import annotations

from barnabas.experiments.explore.checks.phantom import phantom
from barnabas.experiments.explore.log import Log
from tests.experiments.explore.checks.told import T, consumed, found, log, sent


def test_what_nobody_sent() -> None:
    told = sent("a"), consumed("a", 0), consumed("x", 1)
    assert found(phantom, log("a", "x"), *told) == [("phantom", ("x",))]


def test_a_topic_that_the_run_only_reads_may_hold_anything() -> None:
    assert found(phantom, log("x"), consumed("x", 0)) == []


def test_what_is_from_before_the_run() -> None:
    before = Log(starts={(T, 0): 5})
    assert found(phantom, before, sent("a"), consumed("x", 4)) == []
    assert found(phantom, before, sent("a"), consumed("x", 5)) == [("phantom", ("x",))]
