"""Lines of brokers of 0.11.0.1 and 4.3.1, as they wrote them."""

from __future__ import annotations

import json

import pytest

from barnabas.designs.rebalances.broker_log import read, state

OLD = """\
[2026-11-22 03:33:05,710] INFO [GroupCoordinator 1]: Preparing to rebalance group r00 with old generation 1 (__consumer_offsets-0) (kafka.coordinator.group.GroupCoordinator)
[2026-11-22 03:33:05,710] INFO [GroupCoordinator 1]: Stabilized group r00 generation 2 (__consumer_offsets-0) (kafka.coordinator.group.GroupCoordinator)
[2026-11-22 03:33:05,720] DEBUG Completed request:{api_key=8,api_version=3,correlation_id=18,client_id=r00.m} -- {group_id=r00} from connection 127.0.0.1:1-127.0.0.1:2;totalTime:1.500000,requestQueueTime:0.085000 (kafka.request.logger)
a line of something else
[2026-11-22 03:33:05,923] INFO [GroupCoordinator 1]: Assignment received from leader for group r00 for generation 1 (kafka.coordinator.group.GroupCoordinator)
[2026-11-22 03:33:08,717] INFO [GroupCoordinator 1]: Member r00.m-06 in group r00 has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)
"""  # noqa: E501
COMPLETED = {
    "requestHeader": {"requestApiKey": 11, "correlationId": 6, "clientId": "r2.m"},
    "totalTimeMs": 17.927,
}
NEW = f"""\
[2026-11-22 03:40:55,656] [network-1] DEBUG kafka.request.logger - Completed request:{json.dumps(COMPLETED)}
[2026-11-22 03:40:55,691] [processor-2] INFO GroupMetadataManager - [GroupCoordinator id=1] Preparing to rebalance group r2 in state PreparingRebalance with old generation 0 (reason: x)
[2026-11-22 03:40:55,705] [processor-0] INFO GroupMetadataManager - [GroupCoordinator id=1] Stabilized group r2 generation 1 with 1 members.
[2026-11-22 03:40:55,732] [processor-1] INFO GroupMetadataManager - [GroupCoordinator id=1] Assignment received from leader r2.m-9d for group r2 for generation 1. The group
[2026-11-22 03:42:10,320] [processor-1] INFO GroupMetadataManager - [GroupCoordinator id=1] [GroupId r3] Bumped group epoch to 2 with metadata hash 3.
[2026-11-22 03:42:11,320] [network-1] DEBUG kafka.request.logger - Completed request:{{"cut
"""  # noqa: E501


def test_what_0_11_0_1_writes() -> None:
    served, turns = read(OLD.splitlines())
    assert [turn.kind for turn in turns] == ["prepares", "stabilized", "assigned", "expired"]
    assert {turn.group for turn in turns} == {"r00"}
    (one,) = served
    assert (one.client_id, one.correlation_id, one.key, one.line) == ("r00.m", 18, 8, 2)
    assert one.over - one.came == pytest.approx(0.0015, abs=1e-6)
    assert turns[-1].at - one.over == pytest.approx(2.997, abs=1e-6)


def test_what_4_3_1_writes() -> None:
    served, turns = read(NEW.splitlines())
    assert [turn.kind for turn in turns] == ["prepares", "stabilized", "assigned", "bumped"]
    assert [turn.group for turn in turns] == ["r2", "r2", "r2", "r3"]
    (one,) = served
    assert (one.client_id, one.correlation_id, one.key) == ("r2.m", 6, 11)
    assert one.over - one.came == pytest.approx(0.017927, abs=1e-6)


def test_the_state_is_that_of_the_group_before_the_line() -> None:
    _, turns = read(OLD.splitlines())
    states = [state(turns, "r00", line) for line in (0, 1, 2, 5, 9)]
    assert states == ["", "PreparingRebalance", "CompletingRebalance", "Stable", "Stable"]
    assert state(turns, "another", 9) == ""
    assert state(read(NEW.splitlines())[1], "r3", 9) == ""  # no classic group
