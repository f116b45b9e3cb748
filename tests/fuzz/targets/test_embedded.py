"""Cases against the embedded cluster in a process of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from itertools import chain

import pytest

from barnabas.fuzz.cases.case import Case, Live
from barnabas.fuzz.cases.observation import COMPUTES, DIFFERS, Death, Observation, Probe
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS
from barnabas.fuzz.targets import writing
from barnabas.fuzz.targets.address import address
from barnabas.fuzz.targets.address_settings import Address
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.connections import Lane
from barnabas.fuzz.targets.crash_counts import DEATHS, CrashCounts
from barnabas.fuzz.targets.embedded import EmbeddedService
from barnabas.fuzz.targets.flow import Flow, Placed
from barnabas.fuzz.targets.pair import beside
from barnabas.fuzz.targets.sending import WORN
from barnabas.fuzz.targets.service import Elsewhere
from barnabas.fuzz.targets.unattributed import Unattributed
from barnabas.specs import decode_frame
from barnabas.specs.keys import API_VERSIONS, FETCH, METADATA
from tests.fuzz.observed import case, request

ASK = request(METADATA, 1, {"topics": None})
VERSIONS = request(API_VERSIONS, 0, {})
PARKED = request(
    FETCH,
    4,
    {
        "max_wait_ms": 60000,
        "min_bytes": 1 << 20,
        "topics": [
            {
                "topic": "fuzz-topic",
                "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}],
            }
        ],
    },
)


@pytest.fixture(scope="module")
def target() -> Iterator[BrokerTarget]:
    with BrokerTarget(EmbeddedService(), batch=16, lanes=4, patience=0.5, limit=20) as running:
        yield running


def run(target: BrokerTarget, *cases: Case) -> list[Observation]:
    found = list(target.run(cases))
    assert [one.case for one in found] == list(cases)
    return found


def test_what_is_under_way_when_time_is_up_is_finished_and_kept(target: BrokerTarget) -> None:
    cases = [case(ASK, number=number) for number in range(1000)]
    before = target.executed
    found = list(target.run_until(cases, lambda: target.executed > before))
    assert [one.case for one in found] == cases[: len(found)]
    assert 0 < len(found) == target.executed - before < len(cases)
    run(target, case(VERSIONS))


def test_a_broker_in_which_no_session_can_be_had_any_more_is_started_anew(
    target: BrokerTarget,
) -> None:
    before, counts = target.restarts, target.lanes.counts
    counts.had, counts.failing = True, WORN - 1
    run(target, case(ASK))
    assert target.restarts == before
    counts.failing = WORN
    run(target, case(ASK))
    assert (target.restarts, counts.failing) == (before + 1, 0)


def test_cases_that_are_left_when_no_session_can_be_had_go_to_the_one_started_anew(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_at_once(target, 64)
    before, counts, batch_of = target.restarts, target.lanes.counts, target._batch_of
    counts.had = True

    def worn(flow: Flow, alone: bool) -> list[Placed]:
        found = batch_of(flow, alone)
        counts.failing = 0 if target.restarts > before else WORN
        return found

    monkeypatch.setattr(target, "_batch_of", worn)
    cases = [case(ASK, number=number) for number in range(64)]
    seen = [one.case for one in target.run(cases)]
    assert seen == cases
    assert target.restarts == before + 1


def all_at_once(target: BrokerTarget, count: int) -> None:
    """From now on so many cases are on their way at once."""
    while target.at_once < count:
        run(target, *(case(ASK, number=number) for number in range(target.at_once)))


def test_cases_are_told_while_others_are_under_way_and_who_asks_for_no_more_leaves_them(
    target: BrokerTarget,
) -> None:
    all_at_once(target, 40)
    before = target.executed
    seen = target.run([case(ASK, number=number) for number in range(40)])
    assert next(seen).replies
    assert 16 <= target.executed - before < 40
    seen.close()  # type: ignore[attr-defined]
    assert all(one.replies for one in run(target, *(case(ASK, number=n) for n in range(40))))


def test_who_needs_a_second_look_is_told_with_those_behind_it_in_order(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_at_once(target, 40)
    looked: list[tuple[int, bool]] = []
    looks = target._looks
    monkeypatch.setattr(looks, "due", lambda one: one.case.number == 3)
    send = target.lanes.flow
    flows: list[Flow] = []

    def flow(cases: list[Case], patience: float | None = None) -> Flow:
        flows.append(send(cases, patience))
        return flows[-1]

    monkeypatch.setattr(target.lanes, "flow", flow)
    look = looks.look

    def at(one: Observation) -> Observation:
        looked.append((one.case.number, flows[-1].over))
        return look(one)

    monkeypatch.setattr(looks, "look", at)
    run(target, *(case(ASK, number=number) for number in range(40)))
    assert [number for number, _ in looked] == list(range(40))
    assert [over for _, over in looked] == [False] * 3 + [True] * 37


def test_an_answer_is_waited_for_no_longer_than_somebody_wants(target: BrokerTarget) -> None:
    with target.patient_until(lambda: True):
        cut_short = target.sender.patiently(case(PARKED))
    assert cut_short.overdue
    assert cut_short.took_ms < LIMIT_MS
    assert target.sender.patiently(case(PARKED)).took_ms >= LIMIT_MS


def test_valid_requests_are_answered_on_connections_that_survive(target: BrokerTarget) -> None:
    opened = target.lanes.counts.opened
    found = run(target, *(case(ASK, number=number) for number in range(100)))
    assert all(len(one.replies) == 1 and one.ending == "open" for one in found)
    assert target.lanes.counts.opened - opened <= 4


def test_an_answer_carries_the_live_correlation_id_of_its_request(target: BrokerTarget) -> None:
    live = (Live(0, 8, 4, "correlation_id"),)
    for one in run(target, *(case(ASK)._replace(live=live) for _ in range(3))):
        assert one.replies[0][:4] == one.sent[0][8:12]


def test_requests_in_one_case_are_answered_in_their_order(target: BrokerTarget) -> None:
    (one,) = run(target, case(ASK, VERSIONS, ASK))
    assert [len(reply) > 0 for reply in one.replies] == [True] * 3
    assert decode_frame(one.replies[1], "response", key=API_VERSIONS, version=0).body["api_keys"]


@pytest.mark.parametrize("delivery", ["whole", "bytewise", "burst"])
def test_bytes_arrive_however_they_are_delivered(target: BrokerTarget, delivery: str) -> None:
    (one,) = run(target, case(ASK)._replace(delivery=delivery))  # type: ignore[arg-type]
    assert len(one.replies) == 1


def test_a_frame_that_is_not_whole_is_not_waited_for(target: BrokerTarget) -> None:
    (one,) = run(target, case(ASK[:-1]))
    assert one.ending == "open"
    assert not dict(one.facts).get("waited_ms")


def test_a_size_that_no_request_has_closes_the_connection(target: BrokerTarget) -> None:
    (one,) = run(target, case(b"\x7f\xff\xff\xff" + ASK[4:]))
    assert one.ending in ("closed", "reset")


def test_a_parked_request_is_given_up_and_holds_up_nobody(target: BrokerTarget) -> None:
    abandoned = target.lanes.counts.abandoned
    found = run(target, case(PARKED), *(case(ASK, number=n) for n in range(1, 20)))
    assert dict(found[0].facts)["waited_ms"]
    assert all(one.replies for one in found[1:])
    assert target.lanes.counts.abandoned == abandoned + 1


def test_others_go_on_while_one_is_waited_for(target: BrokerTarget) -> None:
    flow = target.lanes.flow([case(PARKED), *(case(ASK, number=n) for n in range(1, 30))])
    some = flow.some(10)
    assert len(some) >= 10
    assert all(place and one.replies for place, one in some)
    assert not flow.over
    assert flow.under_way(*about(flow, 0))
    rest = flow.rest()
    assert rest[-1][0] == 0
    assert dict(rest[-1][1].facts)["waited_ms"]
    assert len(some) + len(rest) < 30  # nothing was sent any more
    assert flow.over


def about(flow: Flow, index: int) -> tuple[int, None]:
    """The port that a case of a flow has gone out from."""
    return next(lane.port for lane in flow._busy if lane.index == index), None


def test_an_unanswered_probe_beside_others_is_asked_again_and_blames_nobody(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([Probe(False, 5.0, "no answer within 5 s")])
    probe = target.prober.probe
    monkeypatch.setattr("barnabas.fuzz.targets.revival.DYING_S", 0)
    monkeypatch.setattr(target.prober, "probe", lambda *asks: next(answers, None) or probe(*asks))
    restarts = target.restarts
    found = run(target, *(case(ASK, number=number) for number in range(40)))
    assert all(one.replies and one.probe is None for one in found)
    assert target.restarts == restarts


def test_a_probe_that_stays_unanswered_restarts_the_process_and_ends_with_one_case(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    guilty = case(ASK, number=7)
    begin, probe, send = target.service.start, target.prober.probe, target.lanes.flow
    hung = False

    def flow(cases: list[Case], patience: float | None = None) -> Flow:
        nonlocal hung
        hung = hung or guilty in cases
        return send(cases, patience)

    def start() -> None:
        nonlocal hung
        hung = False
        begin()

    monkeypatch.setattr("barnabas.fuzz.targets.revival.DYING_S", 0)
    monkeypatch.setattr(target.lanes, "flow", flow)
    monkeypatch.setattr(target.service, "start", start)
    monkeypatch.setattr(
        target.prober, "probe", lambda *asks: Probe(False, 5.0, "no") if hung else probe(*asks)
    )
    doing: list[str] = []
    perform = target.sender.perform

    def performed(cases: list[Case]) -> list[Observation]:
        doing.append(target.doing)
        return perform(cases)

    monkeypatch.setattr(target.sender, "perform", performed)
    found = run(target, *(case(ASK)._replace(number=number) for number in range(4)), guilty)
    assert set(doing) == {"looking for the case behind an unanswered probe, one of 5"}
    assert target.doing == ""
    assert [one.case.number for one in found if dict(one.facts).get("blamed")] == [7]


@pytest.mark.parametrize(("share", "longer"), [(0.1, False), (0.5, True)])
def test_who_works_on_an_answer_is_waited_for_longer(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch, share: float, longer: bool
) -> None:
    monkeypatch.setattr("barnabas.fuzz.targets.sending.LIMIT_MS", 100)
    monkeypatch.setattr("barnabas.fuzz.targets.sending.AT_WORK_MS", 1500)
    monkeypatch.setattr(
        "barnabas.fuzz.targets.sending.spent", lambda pid: share * time.perf_counter()
    )
    found = target.sender.patiently(case(PARKED))
    assert found.overdue
    assert found.took_ms >= 100
    assert (found.took_ms >= 1500) is longer


def test_a_late_case_behind_which_the_process_computes_on_is_blamed_and_waited_for_no_longer(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    guilty = case(PARKED, number=7)
    perform, restart = target.sender.perform, target.sender.restart
    computes = True

    def performed(cases: Sequence[Case]) -> list[Observation]:
        nonlocal computes
        computes = guilty in cases
        return perform(cases)

    def anew() -> None:
        nonlocal computes
        computes = False
        restart()

    monkeypatch.setattr(target.sender, "perform", performed)
    monkeypatch.setattr(target.sender, "restart", anew)
    monkeypatch.setattr(target._computing, "computing", lambda over: 7 if computes else None)
    monkeypatch.setattr(target.sender, "patiently", None)
    cases = [case(ASK, number=number) for number in range(7)]
    found = run(target, *cases, guilty, case(ASK, number=8))
    assert [one.case.number for one in found] == list(range(9))
    assert [one.case.number for one in found if COMPUTES in dict(one.facts)] == [7]
    assert not computes


def test_what_was_only_busy_is_waited_for_and_not_started_again(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(target, case(ASK))
    unanswered = iter([False, False])  # one behind the case, one behind those under way beside it
    again = iter([True, True, False, True, True, True, True])
    answers = chain(unanswered, again)
    asked: list[Probe] = []

    def probe(*asks: object) -> Probe:
        asked.append(Probe(next(answers, True), 5.0))
        return asked[-1]

    monkeypatch.setattr("barnabas.fuzz.targets.revival.DYING_S", 0)
    monkeypatch.setattr(target.sender.revival, "_start_s", 1000.0)
    monkeypatch.setattr(target.prober, "probe", probe)
    restarts = target.restarts
    (one,) = run(target, case(ASK))
    assert one.probe is not None
    assert not one.probe.answered
    assert run(target, case(ASK))[0].replies
    assert len(asked) == 2 + 7 + 1  # until four in a row, then behind the case
    assert target.restarts == restarts


def test_what_stays_busy_longer_than_a_start_takes_is_started_again(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = [True]
    start, probe = target.service.start, target.prober.probe

    def again() -> None:
        hung.clear()
        start()

    monkeypatch.setattr("barnabas.fuzz.targets.revival.DYING_S", 0)
    monkeypatch.setattr(target.sender.revival, "_start_s", 0.0)
    monkeypatch.setattr(target.service, "start", again)
    monkeypatch.setattr(
        target.prober, "probe", lambda *asks: Probe(False, 5.0, "") if hung else probe(*asks)
    )
    restarts = target.restarts
    run(target, case(ASK))
    assert run(target, case(ASK))[0].replies
    assert target.restarts == restarts + 1


def test_more_cases_are_given_at_once_while_all_goes_well_and_fewer_behind_a_death() -> None:
    with BrokerTarget(EmbeddedService(), batch=100, lanes=4, limit=20) as target:
        given = [target.at_once]
        for _ in range(4):
            run(target, *(case(ASK, number=number) for number in range(target.at_once)))
            given.append(target.at_once)
        assert given == [64, 128, 256, 512, 1024]
        pid = target.service.pid  # type: ignore[attr-defined]
        os.kill(pid, 6)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # it is dead before the next case
        run(target, *(case(ASK, number=number) for number in range(10)))
        assert target.at_once == 512


def test_a_process_that_dies_is_told_and_started_again(target: BrokerTarget) -> None:
    service = target.service
    assert isinstance(service, EmbeddedService)
    restarts = target.restarts
    assert service.pid is not None
    os.kill(service.pid, 6)
    found = run(target, case(ASK), case(ASK, number=1))
    assert [one.death for one in found if one.death] in ([], [Death(-6, "")])
    assert target.restarts == restarts + 1
    assert run(target, case(ASK))[0].replies


def test_two_targets_that_agree_differ_in_nothing(target: BrokerTarget) -> None:
    other = BrokerTarget(EmbeddedService(), batch=16, lanes=4, limit=20)
    mine = BrokerTarget(EmbeddedService(), batch=16, lanes=4, limit=20)
    with beside(mine, other) as pair:
        found = list(pair.run([case(ASK), case(b"\x7f\xff\xff\xff" + ASK[4:])]))
        assert pair.doing == ""
        other.sender.doing = "starting it anew"
        assert pair.doing == "starting it anew"
    assert not any(dict(one.facts).get(DIFFERS) for one in found)


def test_where_nobody_listens_a_target_says_so() -> None:
    gone = BrokerTarget(Elsewhere("127.0.0.1", 1), limit=1)
    with pytest.raises(CannotRun, match="does not serve"):
        gone.__enter__()


def test_a_broker_on_another_machine_is_refused() -> None:
    with pytest.raises(Misuse, match="--i-own-this-target"):
        address(Address("192.0.2.1", 9092))


class Said:
    """A log that says, without whose it is, what has come of some cases."""

    def __init__(self, target: BrokerTarget, patch: pytest.MonkeyPatch, guilty: set[int]) -> None:
        self.entries: list[str] = []
        send = target.lanes.flow

        def flow(cases: list[Case], patience: float | None = None) -> Flow:
            for one in cases:
                if one.number in guilty:
                    self.entries.append(NULL.format(one.number))
            return send(cases, patience)

        def log() -> tuple[str, ...]:
            said, self.entries = tuple(self.entries), []
            return said

        patch.setattr(target.sender.watch, "unattributed", Unattributed())
        patch.setattr(target.lanes, "flow", flow)
        patch.setattr(target.service, "log", log)


NULL = """\
[handler-3] ERROR k.ReplicaManager - append to t-{}
java.lang.NullPointerException: record
\tat kafka.log.Validator.validate(Validator.scala:191)"""


@pytest.mark.parametrize("guilty", [{9}, {1, 3, 9, 12, 13}, set(range(16))])
def test_an_entry_that_names_nobody_is_the_one_case_s_that_shows_it_alone(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch, guilty: set[int]
) -> None:
    Said(target, monkeypatch, guilty)
    found = run(target, *(case(ASK, number=number) for number in range(16)))
    one, *others = (one for one in found if one.log)
    assert {each.case.number for each in (one, *others)} <= guilty
    assert not any(each.shared for each in found)
    executed = target.executed
    run(target, *(case(ASK, number=number) for number in range(16)))
    assert target.executed == executed + 16
    (again,) = run(target, one.case)
    assert again.log == one.log


def test_what_several_cases_do_is_told_of_the_last_when_they_are_run_together(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    Said(target, monkeypatch, {3, 5})
    before = target.executed
    some = [case(ASK, number=number) for number in (3, 4, 5)]
    *others, last = target.together(some)
    assert target.executed == before + 3, "nobody is looked for"
    assert [one.case for one in (*others, last)] == some
    assert all(one.replies for one in (*others, last))
    assert last.shared
    assert [entry.splitlines()[0][-3:] for entry in last.log] == ["t-3", "t-5"]
    assert not any(one.log for one in others)


def test_a_case_that_somebody_asks_for_is_sent_however_often_its_kind_ended_the_process(
    target: BrokerTarget,
) -> None:
    killers = target._crash_counts = CrashCounts()
    for _ in range(DEATHS):
        killers.killed(case(ASK))
    assert not any(one.sent for one in run(target, case(ASK), case(ASK, number=1)))
    (one,) = run(target, case(ASK))
    assert one.replies
    target._crash_counts = CrashCounts()


@pytest.mark.parametrize("spoil", ["closes", "answers twice"])
def test_who_suffers_from_the_case_before_is_run_again_on_a_connection_of_its_own(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    begin = writing.begin

    def begun(lane: Lane, data: bytes) -> bool:
        if lane.cases == 2 and spoil == "closes":
            raise ConnectionResetError
        if lane.cases == 2:
            lane.reader.receive(b"\0\0\0\4none")
        return begin(lane, data)

    monkeypatch.setattr(writing, "begin", begun)
    target.lanes.aim(target.service.address)
    live = (Live(0, 8, 4, "correlation_id"),)
    executed = target.executed
    found = run(target, *(case(ASK, number=number)._replace(live=live) for number in range(8)))
    for one in found:
        assert (one.ending, [reply[:4] for reply in one.replies]) == ("open", [one.sent[0][8:12]])
    assert target.executed > executed + 8
