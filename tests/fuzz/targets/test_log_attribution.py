from __future__ import annotations

from barnabas.fuzz.targets.log_attribution import LOST, Unattributed

ENTRY = "[a] ERROR k.Log - of partition t-0\njava.lang.Error: x\n\tat kafka.log.Log.f(Log.scala:7)"
SAME = ENTRY.replace("t-0", "t-1")
OTHER = ENTRY.replace("java.lang.Error", "java.lang.NullPointerException")


def test_the_words_around_an_error_make_no_other_finding_of_it() -> None:
    hunts = Unattributed()
    hunts.note_culprit((ENTRY,))
    assert not hunts.is_searched(ENTRY.replace("of partition t-0", "of partition na\u00efve"))
    assert hunts.is_searched(ENTRY.replace("Log.f", "Log.g"))
    # one that does not say where is told by its words
    nowhere = "[a] ERROR k.Log - of partition x\njava.lang.Error: x"
    hunts.note_culprit((nowhere,))
    assert hunts.is_searched(nowhere.replace("partition x", "topic x"))


def test_nobody_is_looked_for_behind_what_no_oracle_judges() -> None:
    hunts = Unattributed()
    assert not hunts.is_searched("[a] WARN k.Features - Invalid update version 0 for feature x")
    assert hunts.is_searched("[a] ERROR k.Exit - Halting because log directory x failed")
    assert hunts.is_searched("Traceback (most recent call last):\nKeyError: 1")


def test_what_nobody_shows_alone_is_left_after_a_few_batches() -> None:
    hunts = Unattributed()
    for _ in range(LOST):
        assert hunts.is_searched(SAME)
        hunts.note_searched((ENTRY, OTHER))
    assert not hunts.is_searched(ENTRY)
