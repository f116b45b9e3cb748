"""The page for publication: its introduction, and cells without what may be a bug."""

from __future__ import annotations

from datetime import UTC, datetime

from barnabas.experiments.clients.draws import Draw
from barnabas.experiments.clients.publication import dates, publication
from barnabas.experiments.clients.trial import Trial
from tests.experiments.clients.made import cell

RUN = Trial(seed=0, raised="", code=0, seconds=1.5, settings="acks 1")
DAY = datetime(2026, 11, 28, 23, 59, tzinfo=UTC)
CONTROL = cell(scenario="none").model_copy(update={"trials": (RUN,), "ended": DAY})
LOST = cell("two@2", word="lost", times=1, why="gone").model_copy(
    update={
        "trials": (RUN, RUN, RUN.model_copy(update={"busy": True})),
        "ended": DAY.replace(day=29),
    }
)
SLOW = cell("two@2", "clock-skew", word="slow", slower_ms=6000)
CELLS = [CONTROL, cell(), LOST, SLOW, cell("two@2", "lossy-network", word="not met")]


def test_the_introduction_has_the_date_and_the_numbers_of_the_run() -> None:
    lines = publication(CELLS).splitlines()
    assert lines[0] == "# What clients do under faults"
    text = " ".join(lines)
    assert (
        "2 client libraries under 3 scenarios ([list](reference/scenarios.md)), against apache:4.3.1."
        in text
    )
    assert "made the tables on 2026-11-28 to 2026-11-29: 4 runs, up to 3 of each cell," in text
    assert "In 1 of them the machine was busy" in text
    assert "#traffic" not in text
    drawn = RUN.model_copy(update={"drawn": Draw(sends=2)})
    differing = publication([cell().model_copy(update={"trials": (RUN, drawn)})])
    assert "[traffic](howto/clients.md#traffic)" in differing
    assert "- `unstable`, in 1 of 5 cells: the runs of the cell differ" in text


def test_a_page_without_times_has_no_date() -> None:
    assert dates([cell()]) == ""
    assert dates([CONTROL, CONTROL]) == "2026-11-28"
    assert "made the tables: 0 runs" in publication([cell()])


def test_the_tables_hide_what_may_be_a_bug_and_mark_what_is_unstable() -> None:
    text = publication([*CELLS, cell("two@2", "late-join", word="duplicates", promised=False)])
    assert "| scenario | one@1 | two@2 |" in text
    assert "| *asked with* | acks 1 |  |" in text
    assert "| slow-broker | as expected | unexpected, unstable |" in text
    assert "| clock-skew |  | slow (+6.0 s) |" in text
    assert "| late-join |  | duplicates (not promised) |" in text
    assert "- No client sends a request that these scenarios match: `lossy-network`." in text
    assert "lost" not in text
    assert "gone" not in text


def test_a_finding_without_faults_is_hidden_too() -> None:
    control = cell("one@1", "none", word="lost", why="without any fault: 1 missing")
    assert "| none | unexpected |" in publication([control, cell(word="not run")])
