"""A round in shards that run concurrently; finished shards are stored and merged in order.

A campaign's progress is one case number, so shards that finish out of order wait on a shelf in the database.
An interrupted round loses only the shards in flight. Rows on the shelf are what a repeated run would give,
because a case is a function of its number and the round's energies.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Protocol

from barnabas.fuzz.engine.rounds import Batch
from barnabas.fuzz.engine.shards import Row, stats_of

ShelvedShard = tuple[range, Sequence[Row]]
"""A shard's cases, and the rows of its results."""


class Shelf(Protocol):
    """A store of finished shards that wait for their turn."""

    def shelve(self, shard: range, rows: Sequence[Row]) -> None:
        """Store the rows of a shard."""

    def shelved(self, numbers: range) -> Iterable[ShelvedShard]:
        """Return the shards of earlier runs that lie within these numbers, in order."""


def cut(numbers: range, size: int) -> list[range]:
    """Cut numbers into shards of at least `size` cases.

    >>> cut(range(10, 35), 10), cut(range(3), 10)
    ([range(10, 23), range(23, 35)], [range(0, 3)])
    """
    count = max(1, len(numbers) // max(size, 1))
    edges = [numbers.start + -(-len(numbers) * index // count) for index in range(count + 1)]
    return [range(first, end) for first, end in itertools.pairwise(edges) if first < end]


def gaps(numbers: range, filled: Iterable[range]) -> list[range]:
    """Return the parts of these numbers that no range covers. filled: ranges in ascending order.

    >>> gaps(range(10), [range(2, 4), range(8, 10)])
    [range(0, 2), range(4, 8)]
    """
    missing, at = [], numbers.start
    for interval in [*filled, range(numbers.stop, numbers.stop)]:
        if interval.start > at:
            missing.append(range(at, interval.start))
        at = max(at, interval.stop)
    return missing


def side_by_side(
    run_shard: Callable[[range], Sequence[Row]],
    numbers: range,
    *,
    size: int,
    at_once: int,
    shelf: Shelf,
    give_up: Callable[[], object] = lambda: None,
) -> Iterator[Batch]:
    """Run the shards of a round concurrently, and yield their batches in order.

    Args:
        run_shard: Runs the cases of a shard.
        numbers: The cases of the round.
        size: The minimal number of cases of a shard.
        at_once: Shards that run at the same time.
        shelf: Where finished shards are stored.
        give_up: Ends the shards in flight when the generator is closed.

    Raises:
        BaseException: What `run_shard` raises, after finished shards are stored.
    """
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
                for pending in waiting:
                    pending.cancel()
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


def _in_turn(ready: dict[int, ShelvedShard], at: int) -> Iterator[Batch]:
    while at in ready:
        shard, rows = ready.pop(at)
        at = shard.stop
        yield Batch(at, stats_of(rows))
