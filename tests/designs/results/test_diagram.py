from __future__ import annotations

from barnabas.designs.results.diagram import Step, sequence


def test_answers_stand_where_they_came() -> None:
    made = [
        Step(0.0, 20.0, 1, "Produce #1", "answer to #1"),
        Step(0.5, 10.0, 2, "Produce #1", "NOT_LEADER_OR_FOLLOWER #1"),
        Step(30.0, None, None, "Produce #2", ""),
    ]
    assert sequence(made).splitlines() == [
        "sequenceDiagram",
        "    participant client",
        "    participant b1 as broker 1",
        "    participant b2 as broker 2",
        "    client->>b1: 0.0 ms: Produce #1",
        "    client->>b2: 0.5 ms: Produce #1",
        "    b2-->>client: 10.5 ms: NOT_LEADER_OR_FOLLOWER #1",
        "    b1-->>client: 20.0 ms: answer to #1",
        "    client->>unknown: 30.0 ms: Produce #2",
    ]
    # as it comes back from JSON
    assert sequence([list(step) for step in made]) == sequence(made)  # type: ignore[misc]
