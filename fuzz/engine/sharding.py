"""A round in shards that run side by side; finished ones are kept, and merged in order.

A campaign stands at one case number, so what is finished out of turn waits on a shelf: in the database, so
that an interrupted round loses only the shards that were under way. A case is a function of its number and
the round's energies; so what is on the shelf is what would be found again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Protocol

from barnabas.fuzz.engine.running import Batch
from barnabas.fuzz.engine.shards import Row, stats_of

Shelved = tuple[range, Sequence[Row]]
"""A shard's cases, and the rows that they came to."""


class Shelf(Protocol):
    """Where finished shards wait for their turn."""

    def shelve(self, shard: range, rows: Sequence[Row]) -> None:
        """Put one by."""

    def shelved(self, numbers: range) -> Iterable[Shelved]:
        """Those of a run before that lie within these numbers, in order."""


def cut(numbers: range, size: int) -> list[range]:
    """Shards of at least so many cases; nothing is left over.

    >>> cut(range(10, 35), 10), cut(range(3), 10)
    ([range(10, 23), range(23, 35)], [range(0, 3)])
    """
    count = max(1, len(numbers) // max(size, 1))
    edges = [numbers.start + -(-len(numbers) * index // count) for index in range(count + 1)]
    return [range(first, end) for first, end in itertools.pairwise(edges) if first < end]


def gaps(numbers: range, filled: Iterable[range]) -> list[range]:
    """What ranges in order leave of these numbers.

    >>> gaps(range(10), [range(2, 4), range(8, 10)])
    [range(0, 2), range(4, 8)]
    """
    found, at = [], numbers.start
    for one in [*filled, range(numbers.stop, numbers.stop)]:
        if one.start > at:
            found.append(range(at, one.start))
        at = max(at, one.stop)
    return found


def side_by_side(
    run_shard: Callable[[range], Sequence[Row]],
    numbers: range,
    *,
    size: int,
    at_once: int,
    shelf: Shelf,
    give_up: Callable[[], object] = lambda: None,
) -> Iterator[Batch]:
    """Run shards of a round, so many at once, and yield them in turn. give_up: ends those that are under way
    when nobody waits for them any more. Raises what `run_shard` raises, once what is finished is put by."""
    ready = {shard.start: (shard, rows) for shard, rows in shelf.shelved(numbers)}
    missing = gaps(numbers, [shard for shard, _ in ready.values()])
    at = numbers.start
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="shard")
    try:
        waiting: dict[Future[Sequence[Row]], range] = {
            pool.submit(run_shard, shard): shard for gap in missing for shard in cut(gap, size)
        }
        problem: BaseException | None = None
        for batch in _in_turn(ready, at):
            at = batch.end
            yield batch
        for future in as_completed(waiting):
            shard = waiting[future]
            if future.cancelled():
                continue
            if future.exception() is not None:
                problem = problem or future.exception()
                for one in waiting:
                    one.cancel()
                continue
            rows = future.result()
            shelf.shelve(shard, rows)
            ready[shard.start] = shard, rows
            for batch in _in_turn(ready, at):
                at = batch.end
                yield batch
        if problem is not None:
            raise problem
    except BaseException:
        give_up()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _in_turn(ready: dict[int, Shelved], at: int) -> Iterator[Batch]:
    while at in ready:
        shard, rows = ready.pop(at)
        at = shard.stop
        yield Batch(at, stats_of(rows))
