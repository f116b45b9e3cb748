from __future__ import annotations

from barnabas.captures.kafka.context import Context
from barnabas.captures.summary.lanes import Lanes
from tests.captures.checks.groups import commit, heartbeat, join, leave, sync
from tests.captures.checks.test_epochs import beats
from tests.captures.summary.views import shown


def test_heartbeats_are_runs_until_something_else_happens() -> None:
    lanes = shown(
        *(
            Lanes(),
            Context(),
            join(0),
            sync(10),
            heartbeat(1000),
            heartbeat(2000),
            heartbeat(3000, error=27),
        ),
        *(heartbeat(4000), commit(4500), heartbeat(5000), leave(6000)),
    )
    (lane,) = lanes.rows()
    assert (lane["group"], lane["member"], lane["client"]) == ("g", "m", "app")
    assert [(one["api"], one["error"], one["count"]) for one in lane["events"]] == [
        *(("JoinGroup", "", 1), ("SyncGroup", "", 1), ("Heartbeat", "", 2)),
        *(("Heartbeat", "REBALANCE_IN_PROGRESS", 1), ("Heartbeat", "", 1), ("OffsetCommit", "", 1)),
        *(("Heartbeat", "", 1), ("LeaveGroup", "", 1)),
    ]
    assert (lane["events"][2]["start"], lane["events"][2]["end"]) == ("1000000000", "2001000000")


def test_a_new_epoch_begins_another_run() -> None:
    epochs = ((0, 1), (1, 1), (1, 1), (1, 2), (-1, -1))
    seen = [beats(at, "a", *one) for at, one in enumerate(epochs)]
    (lane,) = shown(Lanes(), Context(), *seen).rows()
    assert [(one["generation"], one["count"]) for one in lane["events"]] == [
        *((1, 1), (1, 2), (2, 1), (-1, 1))
    ]


def test_the_last_events_are_kept_and_what_fell_out_is_counted() -> None:
    lanes = shown(Lanes(events=2), Context(), *(commit(at) for at in range(5)))
    (lane,) = lanes.rows()
    assert ([one["start"] for one in lane["events"]], lanes.fell_out) == (["3000000", "4000000"], 3)


def test_the_last_lanes_are_kept() -> None:
    lanes = shown(Lanes(most=2), Context(), *(heartbeat(at, f"m{at}") for at in range(5)))
    assert ([row["member"] for row in lanes.rows()], lanes.forgotten) == (["m3", "m4"], 3)
