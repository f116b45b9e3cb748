"""Fetches from the leaders of partitions: one round asks all leaders at once.

    fetcher = Fetcher(bootstrap, say)
    await fetcher.round({("t", 0): 5})    # {("t", 0): FetchedRecords(((5, message), (6, message)), 7)}

It uses Fetch v0 of `barnabas.designs.protocol_guide.client_0_8`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple

from barnabas.captures.host_port import endpoint_text
from barnabas.designs.leaders import STALE, Address, TopicPartition, by_leader
from barnabas.designs.protocol_guide.client_0_8 import EARLIEST, Client, Fetched, Message, requests
from barnabas.designs.protocol_guide.client_0_8.errors import Error
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH
from barnabas.specs.malformed import Malformed
from barnabas.trouble import reason_of

WAIT_MS: Final = 100
"""Milliseconds that a leader may wait for records: consumed records wait as long."""

TIMEOUT: Final = 2.0
"""s that a leader may be silent."""

PAUSE: Final = 0.2
"""s after a round in which something could not be had: refresh.leader.backoff.ms of 0.8."""

PATIENCE: Final = 50
"""Rounds with a PAUSE in which a partition may have no leader before a report: takeovers take fewer."""

MAX_BYTES: Final = 1 << 20
"""Bytes of a partition in a response; brokers of 0.8 accept no larger message."""


class FetchedRecords(NamedTuple):
    """The records of a partition, as (offset, message), and the next offset."""

    messages: tuple[tuple[int, Message], ...]
    following: int


class Fetcher:
    """A fetcher with one connection for each leader. say: reports what can't be fetched, and why."""

    def __init__(
        self, bootstrap: Iterable[Address], client_id: str, say: Callable[[str], None]
    ) -> None:
        self._client = Client(bootstrap, client_id=client_id, timeout=TIMEOUT, patience=0)
        self._say = say
        self._pool = ThreadPoolExecutor(thread_name_prefix="fetcher")
        self._troubles: set[int] = set()
        """Leaders that were unreachable in the last round."""
        self._untold = ""
        """The reason why no broker named the leaders in the last round."""
        self._said: dict[TopicPartition, str] = {}
        """The last report about a partition since it had records."""
        self._unled: dict[TopicPartition, int] = {}
        """Successive rounds in which a partition had no leader."""

    async def round(
        self, positions: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, FetchedRecords]:
        """Fetch from these offsets on, once. Partitions without records are omitted."""
        led, leaderless = by_leader(positions, self._client.cluster.leaders)
        parts = {node: {partition: positions[partition] for partition in led[node]} for node in led}
        answers = await asyncio.gather(*(self._ask(node, part) for node, part in parts.items()))
        records: dict[TopicPartition, FetchedRecords] = {}
        self._count_unled(positions, leaderless, answers)
        again = bool(leaderless) or any(
            answer.keys() != part.keys()
            for answer, part in zip(answers, parts.values(), strict=True)
        )
        for partition, result in (pair for answer in answers for pair in answer.items()):
            if result.error == Error.OFFSET_OUT_OF_RANGE:
                again |= not await self._reset(partition, positions[partition], records)
            elif result.error:
                again = True
                if result.error not in STALE:
                    self._say_once(partition, f"can't be fetched: {error_name(result.error)}")
            elif result.messages:
                self._said.pop(partition, None)
                records[partition] = FetchedRecords(result.messages, result.messages[-1][0] + 1)
        if again:
            await asyncio.sleep(PAUSE)
            await self._refresh(positions)
        return records

    async def close(self) -> None:
        """Close the connections."""
        await self._blocking(self._client.close)
        self._pool.shutdown()

    async def _blocking(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *arguments)

    async def _ask(
        self, node: int, part: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, Fetched]:
        """Return a leader's response; empty if it does not respond."""
        address = self._client.cluster.brokers[node]
        body = requests.fetch(part, max_wait_ms=WAIT_MS, min_bytes=1, max_bytes=MAX_BYTES)
        try:
            answer = await self._blocking(self._client.ask, address, FETCH, body)
        except OSError as problem:
            if node not in self._troubles:
                self._troubles.add(node)
                where = f"broker {node} ({endpoint_text(address)})"
                reason = reason_of(problem) if isinstance(problem, OSError) else problem
                self._say(f"{where} leads {_names(part)} and can't be asked: {reason}")
            return {}
        if node in self._troubles:
            self._troubles.remove(node)
            self._say(f"broker {node} answers again")
        results = {}
        for partition, result in requests.fetched_parts(answer):
            try:
                if partition in part:
                    results[partition] = requests.fetched_part(result, part[partition])
            except Malformed as problem:  # the others of this leader go on
                self._say_once(
                    partition, f"can't be read from offset {part[partition]} on: {problem}"
                )
        return results

    async def _reset(
        self, partition: TopicPartition, offset: int, records: dict[TopicPartition, FetchedRecords]
    ) -> bool:
        """Continue an offset out of range at the smallest one, if the leader returns it."""
        try:
            offsets = await self._blocking(self._client.offsets, {partition: EARLIEST})
        except OSError:
            return False
        if not offsets[partition].offsets:
            return False
        following = offsets[partition].offsets[0]
        self._say(f"{_name(partition)} has no offset {offset}: fetches from {following} on")
        records[partition] = FetchedRecords((), following)
        return True

    async def _refresh(self, positions: Mapping[TopicPartition, int]) -> None:
        topics, reason = {topic for topic, _ in positions}, ""
        try:
            await self._blocking(partial(self._client.refresh, topics))
        except OSError as problem:
            reason = str(problem)
        if reason and reason != self._untold:
            self._say(f"no broker tells who leads: {reason}")
        self._untold = reason

    def _count_unled(
        self,
        positions: Iterable[TopicPartition],
        leaderless: Iterable[TopicPartition],
        answers: Iterable[Mapping[TopicPartition, Fetched]],
    ) -> None:
        """Count the rounds of partitions without a leader; unreachable brokers don't count."""
        errors = dict.fromkeys(leaderless, int(Error.LEADER_NOT_AVAILABLE))
        errors |= {
            partition: result.error for answer in answers for partition, result in answer.items()
        }
        before, self._unled = self._unled, {}
        for partition in positions:
            error, count = errors.get(partition), before.get(partition, 0)
            if error in STALE:
                count += 1
                if count == PATIENCE:
                    reason = f"{error_name(error)}; the brokers say why"
                    self._say(f"{_name(partition)} has been led by nobody for a while: {reason}")
            elif error is not None:
                if count >= PATIENCE:
                    self._say(f"{_name(partition)} is led again")
                count = 0
            self._unled[partition] = count

    def _say_once(self, partition: TopicPartition, text: str) -> None:
        """Report a lasting problem once."""
        if self._said.get(partition) != text:
            self._said[partition] = text
            self._say(f"{_name(partition)} {text}")


def _name(partition: TopicPartition) -> str:
    return f"{partition[0]}[{partition[1]}]"


def _names(places: Iterable[TopicPartition]) -> str:
    return ", ".join(map(_name, sorted(places)))
