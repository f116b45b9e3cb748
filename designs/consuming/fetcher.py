"""Fetches from the leaders of partitions: one round asks all leaders at once, and takes what comes.

    fetcher = Fetcher(bootstrap, say)
    await fetcher.round({("t", 0): 5})    # {("t", 0): Got(((5, message), (6, message)), 7)}

Fetch v0, as `barnabas.designs.protocol_guide.client_0_8` has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple

from barnabas.captures.host_port import endpoint_text
from barnabas.designs.leaders import STALE, Address, Place, by_leader
from barnabas.designs.protocol_guide.client_0_8 import EARLIEST, Client, Fetched, Message, requests
from barnabas.designs.protocol_guide.client_0_8.errors import Error
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH
from barnabas.specs.malformed import Malformed
from barnabas.trouble import reason_of

WAIT_MS: Final = 100
"""How long a leader may wait for records: what is consumed meanwhile waits as long."""

TIMEOUT: Final = 2.0
"""s that a leader may be silent."""

PAUSE: Final = 0.2
"""s after a round in which something could not be had: refresh.leader.backoff.ms of 0.8."""

PATIENCE: Final = 50
"""Rounds, each with a PAUSE, in which nobody leads a partition before that is said: takeovers take fewer."""

MAX_BYTES: Final = 1 << 20
"""Of a partition in an answer; brokers of 0.8 take no larger message."""


class Got(NamedTuple):
    """What a partition had: (offset, message), and the offset to go on with."""

    messages: tuple[tuple[int, Message], ...]
    following: int


class Fetcher:
    """Fetches with one connection a leader. say: told what can't be fetched, and why."""

    def __init__(
        self, bootstrap: Iterable[Address], client_id: str, say: Callable[[str], None]
    ) -> None:
        self._client = Client(bootstrap, client_id=client_id, timeout=TIMEOUT, patience=0)
        self._say = say
        self._pool = ThreadPoolExecutor(thread_name_prefix="fetcher")
        self._troubles: set[int] = set()
        """Leaders that could not be asked last."""
        self._untold = ""
        """Why nobody told last who leads."""
        self._said: dict[Place, str] = {}
        """Of a partition: what was said last, since it had something."""
        self._unled: dict[Place, int] = {}
        """How many rounds in a row nobody has led a partition."""

    async def round(self, positions: Mapping[Place, int]) -> dict[Place, Got]:
        """Ask the leaders for what stands from these offsets on. What has none is left out."""
        led, leaderless = by_leader(positions, self._client.cluster.leaders)
        parts = {node: {place: positions[place] for place in led[node]} for node in led}
        answers = await asyncio.gather(*(self._ask(node, part) for node, part in parts.items()))
        got: dict[Place, Got] = {}
        self._count_unled(positions, leaderless, answers)
        again = bool(leaderless) or any(
            answer.keys() != part.keys()
            for answer, part in zip(answers, parts.values(), strict=True)
        )
        for place, found in (pair for answer in answers for pair in answer.items()):
            if found.error == Error.OFFSET_OUT_OF_RANGE:
                again |= not await self._reset(place, positions[place], got)
            elif found.error:
                again = True
                if found.error not in STALE:
                    self._say_once(place, f"can't be fetched: {error_name(found.error)}")
            elif found.messages:
                self._said.pop(place, None)
                got[place] = Got(found.messages, found.messages[-1][0] + 1)
        if again:
            await asyncio.sleep(PAUSE)
            await self._refresh(positions)
        return got

    async def close(self) -> None:
        """Close the connections."""
        await self._blocking(self._client.close)
        self._pool.shutdown()

    async def _blocking(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *arguments)

    async def _ask(self, node: int, part: Mapping[Place, int]) -> dict[Place, Fetched]:
        """What a leader answers; nothing if it does not."""
        address = self._client.cluster.brokers[node]
        body = requests.fetch(part, max_wait_ms=WAIT_MS, min_bytes=1, max_bytes=MAX_BYTES)
        try:
            answer = await self._blocking(self._client.ask, address, FETCH, body)
        except OSError as problem:
            if node not in self._troubles:
                self._troubles.add(node)
                where = f"broker {node} ({endpoint_text(address)})"
                why = reason_of(problem) if isinstance(problem, OSError) else problem
                self._say(f"{where} leads {_names(part)} and can't be asked: {why}")
            return {}
        if node in self._troubles:
            self._troubles.remove(node)
            self._say(f"broker {node} answers again")
        found = {}
        for place, one in requests.fetched_parts(answer):
            try:
                if place in part:
                    found[place] = requests.fetched_part(one, part[place])
            except Malformed as problem:  # the others of this leader go on
                self._say_once(place, f"can't be read from offset {part[place]} on: {problem}")
        return found

    async def _reset(self, place: Place, offset: int, got: dict[Place, Got]) -> bool:
        """An offset is out of range: go on with the smallest one, if that is told."""
        try:
            found = await self._blocking(self._client.offsets, {place: EARLIEST})
        except OSError:
            return False
        if not found[place].offsets:
            return False
        following = found[place].offsets[0]
        self._say(f"{_name(place)} has no offset {offset}: fetches from {following} on")
        got[place] = Got((), following)
        return True

    async def _refresh(self, positions: Mapping[Place, int]) -> None:
        topics, why = {topic for topic, _ in positions}, ""
        try:
            await self._blocking(partial(self._client.refresh, topics))
        except OSError as problem:
            why = str(problem)
        if why and why != self._untold:
            self._say(f"no broker tells who leads: {why}")
        self._untold = why

    def _count_unled(
        self,
        positions: Iterable[Place],
        leaderless: Iterable[Place],
        answers: Iterable[Mapping[Place, Fetched]],
    ) -> None:
        """Whom nobody can ask about a partition is another trouble, and counts as nothing."""
        errors = dict.fromkeys(leaderless, int(Error.LEADER_NOT_AVAILABLE))
        errors |= {place: one.error for answer in answers for place, one in answer.items()}
        before, self._unled = self._unled, {}
        for place in positions:
            error, count = errors.get(place), before.get(place, 0)
            if error in STALE:
                count += 1
                if count == PATIENCE:
                    why = f"{error_name(error)}; the brokers say why"
                    self._say(f"{_name(place)} has been led by nobody for a while: {why}")
            elif error is not None:
                if count >= PATIENCE:
                    self._say(f"{_name(place)} is led again")
                count = 0
            self._unled[place] = count

    def _say_once(self, place: Place, text: str) -> None:
        """What is so in round after round is said once."""
        if self._said.get(place) != text:
            self._said[place] = text
            self._say(f"{_name(place)} {text}")


def _name(place: Place) -> str:
    return f"{place[0]}[{place[1]}]"


def _names(places: Iterable[Place]) -> str:
    return ", ".join(map(_name, sorted(places)))
