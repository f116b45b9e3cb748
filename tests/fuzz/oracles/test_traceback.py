from __future__ import annotations

from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.traceback import TRACEBACK

TRACE = """\
Traceback (most recent call last):
  File "/a/b/relay.py", line 7, in run
    x
  File "/a/b/units.py", line 9, in parse
    y
ValueError: 17 is no size"""

CASE = Case(0, Recipe(Seed(3, 1, "request", b"", "x"), ()), (b"",))


def test_a_traceback_is_told_by_class_and_frames_without_lines() -> None:
    (verdict,) = TRACEBACK.judge(Observation(CASE, log=("listening", TRACE)))
    assert verdict.behaviour == ("ValueError", "units.py:parse", "relay.py:run")
    (other,) = TRACEBACK.judge(Observation(CASE, log=(TRACE.replace("17", "4").replace("9", "1"),)))
    assert other.behaviour == verdict.behaviour


def test_other_lines_are_none() -> None:
    assert not list(TRACEBACK.judge(Observation(CASE, log=("WARNING: x", "[x] ERROR Traceback"))))
