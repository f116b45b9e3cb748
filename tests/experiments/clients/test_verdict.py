"""What is said of a cell, of trials made up for it."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.experiments.clients.draws import draw
from barnabas.experiments.clients.runs import UNANSWERED, UNUSABLE
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.verdict import FINDINGS, WORDS, Verdict, control_verdict, verdict
from barnabas.experiments.clients.workloads import find
from barnabas.experiments.explore.checks import CHECKS
from barnabas.experiments.explore.finding import Finding
from barnabas.proxy.scenario.file import loads

PRODUCE, TRANSACT = find("produce"), find("transact")
FATAL = loads("version: 1\nabout: {simulates: a, healthy: b, fatal: true}\nrules: []")
REREADS = loads("version: 1\nabout: {simulates: a, healthy: b, rereads: true}\nrules: []")
LOST = Finding(kind="lost", text="2 acknowledged, not in t: a, b")
TWICE = Finding(kind="duplicated", text="1 more than once in t: a")


def trial(**about: Any) -> Trial:
    usual = {"seed": 7, "raised": "", "code": 0, "seconds": 2.0, "fired": 3, "fault_ms": 1000.0}
    return Trial(**{**usual, **about})


CONTROL = [trial(fired=0, fault_ms=0)]


GAVE_UP = {"raised": "GaveUpError: 3 records were not delivered", "seconds": 130.0}


@pytest.mark.parametrize(
    ("about", "word"),
    [
        ({}, "fine"),
        ({"fired": 0}, "not met"),
        ({"fired": 0, "seconds": 99}, "not met"),
        ({"fired": 0, "code": None}, "stuck"),
        ({"fired": 0, "findings": (LOST,)}, "lost"),
        ({"fired": 0, "raised": "X: no"}, "fails"),
        ({"unfinished": "100 of 100 records were not sent"}, "fails"),
        ({"code": None}, "stuck"),
        ({**GAVE_UP}, "stuck"),
        ({**GAVE_UP, "idle": 21.0}, "stuck"),
        ({**GAVE_UP, "idle": 19.0}, "slow"),
        ({**GAVE_UP, "idle": 0.1, "seconds": 0.6}, "fails"),
        ({"failed": 3}, "fails"),
        ({"code": None, "idle": 19.0}, "slow"),
        ({"code": -11}, "died"),
        ({"code": 2}, "died"),
        ({"raised": "kafka.errors.X: no"}, "fails"),
        ({"broken": ("sequence: goes back",)}, "breaks the protocol"),
        ({"broken": ("sequence: goes back",), "raised": "X: no"}, "breaks the protocol"),
        ({"findings": (LOST,), "raised": "X: no"}, "lost"),
        ({"seconds": 7.9}, "fine"),
        ({"seconds": 8.1}, "slow"),
    ],
)
def test_the_word_is_of_the_worst_that_was_seen(about: dict[str, Any], word: str) -> None:
    assert verdict(PRODUCE, CONTROL, [trial(**about)]).word == word


def test_what_is_seen_without_the_fault_is_told_beside_what_is_seen_with_it() -> None:
    result = verdict(PRODUCE, CONTROL, [trial(), trial(fired=0, findings=(LOST,))])
    assert (result.word, result.times, result.of) == ("lost", 1, 2)
    assert result.why == f"without the fault: {LOST.text}"
    assert verdict(PRODUCE, CONTROL, [trial(fired=0)] * 2).why == "no rule fired in 2 runs"


def test_a_producer_that_is_closed_at_once_may_discard_records() -> None:
    drawn = draw(1, PRODUCE).model_copy(update={"ending": "close"})
    run = trial(failed=3, drawn=drawn)
    assert verdict(PRODUCE, CONTROL, [run]).word == "fine"
    assert (
        control_verdict(PRODUCE, [trial(fired=0), run.model_copy(update={"fired": 0})]).word
        == "fine"
    )


def test_who_may_fail_must_say_so() -> None:
    for about in (
        {"raised": UNANSWERED},
        {"raised": f"{UNUSABLE}no JSON"},
        {"unfinished": "1 of 100 records were not sent"},
    ):
        assert verdict(PRODUCE, CONTROL, [trial(**about)], FATAL).promised


def test_who_may_fail_is_not_blamed_for_it() -> None:
    failed = [trial(raised="X: fenced")]
    reported = verdict(PRODUCE, CONTROL, failed, FATAL)
    assert (reported.word, reported.promised) == ("fails", False)
    assert verdict(PRODUCE, CONTROL, failed).promised
    lost = verdict(PRODUCE, CONTROL, [trial(raised="X: fenced", findings=(LOST,))], FATAL)
    assert (lost.word, lost.promised) == ("lost", True)


def test_records_that_fail_without_a_fault_and_without_an_exception_are_a_failure() -> None:
    result = control_verdict(PRODUCE, [trial(fired=0, failed=100)] * 3)
    assert (result.word, result.why) == (
        "not run",
        "fails without any fault: 100 records failed, and the program raised nothing",
    )


@pytest.mark.parametrize("kind", ["consumed again", "consumed twice", "consumed out of order"])
def test_records_may_come_again_where_a_scenario_says_so(kind: str) -> None:
    again = [trial(findings=(Finding(kind=kind, text="5 again"),))]
    assert verdict(PRODUCE, CONTROL, again).promised
    assert not verdict(PRODUCE, CONTROL, again, REREADS).promised
    lost = [trial(findings=(Finding(kind=kind, text="5 again"), LOST))]
    assert verdict(PRODUCE, CONTROL, lost, REREADS).promised


def test_duplicates_are_no_fault_of_who_did_not_promise_otherwise() -> None:
    plain = verdict(PRODUCE, CONTROL, [trial(findings=(TWICE,))])
    assert (plain.word, plain.promised) == ("duplicates", False)
    assert verdict(
        PRODUCE, CONTROL, [trial(findings=(TWICE,), asked=(("InitProducerId", 4),))]
    ).promised
    assert verdict(TRANSACT, CONTROL, [trial(findings=(TWICE,))]).promised
    both = verdict(PRODUCE, CONTROL, [trial(findings=(TWICE,), raised="X: no")])
    assert (both.word, both.promised) == ("fails", True)


@pytest.mark.parametrize("kind", sorted(FINDINGS))
@pytest.mark.parametrize("about", [{"raised": "X: no"}, {"code": None}, {"code": -11}])
@pytest.mark.parametrize("fatal", [False, True])
def test_what_the_guarantee_excludes_wins_over_failures_and_both_are_listed(
    kind: str, about: dict[str, Any], fatal: bool
) -> None:
    ran = trial(findings=(Finding(kind=kind, text="1 in t: a"),), **about)
    result = verdict(TRANSACT, CONTROL, [ran, trial(**about), trial()], FATAL if fatal else None)
    assert (result.word, result.times, result.of, result.promised) == (FINDINGS[kind], 1, 3, True)
    ((word, times),) = [(other.word, other.times) for other in result.also]
    assert (word in ("fails", "stuck", "died"), times) == (True, 2)


def test_all_observations_of_a_cell_are_listed_the_worst_first() -> None:
    trials = [trial(findings=(TWICE, LOST), broken=("a: b",)), trial(raised="X: no", seconds=20)]
    result = verdict(TRANSACT, CONTROL, trials)
    assert [result.word, *(other.word for other in result.also)] == [
        *("lost", "duplicates", "breaks the protocol", "fails", "slow")
    ]
    assert [other.why for other in result.also][:2] == [TWICE.text, "a: b"]
    assert Verdict.model_validate_json(result.model_dump_json()) == result


@pytest.mark.parametrize(
    ("about", "word"),
    [
        ({"raised": "X: no"}, "fails"),
        ({"broken": ("sequence: goes back",)}, "breaks the protocol"),
        ({"seconds": 20}, "slow"),
    ],
)
def test_what_was_not_promised_hides_nothing_that_was(about: dict[str, Any], word: str) -> None:
    swapped = Finding(kind="reordered", text="1 in another order than sent")
    result = verdict(PRODUCE, CONTROL, [trial(findings=(swapped,)), trial(**about), trial()])
    assert (result.word, result.times, result.of, result.promised) == (word, 1, 3, True)
    result = verdict(PRODUCE, CONTROL, [trial(findings=(swapped,), **about)])
    assert (result.word, result.promised) == (word, True)
    result = verdict(PRODUCE, CONTROL, [trial(), trial(findings=(swapped,))])
    assert (result.word, result.promised) == ("reordered", False)


def test_a_cell_that_is_not_the_same_each_time_says_how_often() -> None:
    trials = [trial(), trial(findings=(LOST,)), trial(findings=(LOST,)), trial(fired=0)]
    result = verdict(PRODUCE, CONTROL, trials)
    assert (result.word, result.times, result.of, result.why) == ("lost", 2, 3, LOST.text)


def test_of_one_that_is_slow_there_is_one_number_and_its_own_timeout() -> None:
    trials = [trial(), trial(seconds=33.2, settings="acks all, timeout 30 s"), trial(seconds=9)]
    result = verdict(PRODUCE, CONTROL, trials)
    assert result.why == "took 30.2 s longer than the fault: about its timeout of 30 s"
    assert result.slower_ms == 30_200
    other = trial(seconds=33.2, settings="transaction timeout 30 s, timeout 5 s")
    assert verdict(PRODUCE, CONTROL, [other]).why == "took 30.2 s longer than the fault"


def test_times_of_a_busy_machine_are_said_to_be() -> None:
    assert verdict(PRODUCE, CONTROL, [trial(seconds=20, busy=True)]).busy


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"raised": "X: no"}, "fails without any fault: X: no"),
        ({"code": None}, "stuck without any fault: had not ended after 2 s"),
        (
            {"raised": "NotOfferedError: this library does not offer it"},
            "this library does not offer it",
        ),
    ],
)
def test_who_fails_without_faults_is_not_judged(about: dict[str, Any], why: str) -> None:
    assert control_verdict(PRODUCE, [trial(), trial()]).word == "fine"
    result = control_verdict(PRODUCE, [trial(), trial(**about)])
    assert (result.word, result.why) == ("not run", why)


@pytest.mark.parametrize(
    ("about", "word"),
    [
        ({"findings": (LOST,)}, "lost"),
        ({"findings": (LOST,), "raised": "X: no"}, "lost"),
        ({"findings": (TWICE,)}, "duplicates"),
        ({"broken": ("sequence: goes back",)}, "breaks the protocol"),
    ],
)
def test_who_breaks_a_promise_without_faults_has_no_excuse(
    about: dict[str, Any], word: str
) -> None:
    result = control_verdict(PRODUCE, [trial(), trial(**about)])
    assert (result.word, result.times, result.of, result.promised) == (word, 1, 2, True)
    assert result.why.startswith("without any fault: ")


def test_a_client_may_not_fail_in_a_workload_that_runs_once() -> None:
    failing = [trial(raised="KafkaError: no leader")]
    assert control_verdict(find("group"), failing).word == "not run"
    assert control_verdict(find("rolling-restart"), failing).word == "fails"


def test_all_that_checks_find_has_a_word() -> None:
    kinds = {one.__name__.replace("_", " ") for one in CHECKS}
    assert kinds | {"uncommitted", "scattered", "grows", "unsent"} == set(FINDINGS)
    assert set(FINDINGS.values()) < set(WORDS)


STALE = loads("""
version: 1
rules:
  - {name: slow, match: {api: Produce, direction: response}, do: {delay: 1s}}
  - {name: refused, match: {api: Produce, direction: request}, do: {respond: {error: UNKNOWN_SERVER_ERROR}}}
  - {name: fetched, match: {api: Fetch, direction: request}, do: close}
""")


@pytest.mark.parametrize(
    ("fired", "about", "word", "unmatched"),
    [
        ({"slow": 3}, {}, "not met", ("refused",)),
        ({"slow": 3, "refused": 1}, {}, "fine", ()),
        ({"refused": 1}, {}, "fine", ("slow",)),
        ({"slow": 3}, {"findings": (LOST,)}, "lost", ("refused",)),
        ({}, {}, "not met", ("slow", "refused")),
    ],
)
def test_a_scenario_is_met_only_if_the_rules_that_are_its_point_fired(
    fired: dict[str, int], about: dict[str, Any], word: str, unmatched: tuple[str, ...]
) -> None:
    names = [rule.name for rule in STALE.rules]
    counts = tuple((name, fired.get(name, 0)) for name in names)
    ran = trial(rules=counts, fired=sum(fired.values()), asked=(("Produce", 9),), **about)
    result = verdict(PRODUCE, CONTROL, [ran], STALE)
    assert (result.word, result.unmatched) == (word, unmatched)


def test_a_rule_that_fired_in_one_run_of_several_was_met() -> None:
    runs = [
        trial(rules=(("slow", 3), ("refused", times)), asked=(("Produce", 9),)) for times in (0, 1)
    ]
    assert verdict(PRODUCE, CONTROL, runs, STALE).word == "fine"


@pytest.mark.parametrize(
    ("word", "stored"), [("as expected", "fine"), ("rule never matched", "not met")]
)
def test_words_of_tables_are_read_as_the_stored_ones(word: str, stored: str) -> None:
    assert Verdict.model_validate({"word": word}).word == stored
