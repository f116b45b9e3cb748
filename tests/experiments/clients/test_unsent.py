"""Records that a client's program did not report as sent."""

from __future__ import annotations

from barnabas.experiments.clients.unsent import unsent
from barnabas.experiments.explore.history import History, Sent
from barnabas.experiments.explore.log import Log, LoggedRecord


def test_records_that_nobody_sent_are_found_in_topics_of_the_run() -> None:
    history = History([Sent(id="a", topic="t")])
    records = [LoggedRecord("t", 0, 0, "a"), LoggedRecord("t", 0, 1, "b")]
    (found,) = unsent(history, Log([*records, LoggedRecord("other", 0, 0, "c")]))
    assert (found.kind, found.text) == ("unsent", "1 in t, but nobody sent them: b")
