"""Members of groups that follow a script, in a Java client's process: many groups at once.

A script is a list of steps, each a list that begins with its name:

- `["settle", n]`: poll until so many partitions are assigned, and read nothing
- `["read", n]`: read so many records of each partition in turn
- `["poll", ms]`: once
- `["commit", how, mark]`: commit the positions, with the mark as the offsets' metadata; how: `sync`,
  `async`, or `again`: a commit that failed in a way that may be tried again is, by its callback
- `["keep", seconds]`: poll for so long, and read nothing
- `["work", seconds]`: do something else, which is not polling
- `["say", what]`, `["hear", what]`: tell the group's other members, or wait until one has
- `["wait", seconds]`: before it comes, as `hear` may stand first
- `["rejoin"]`: poll and read nothing, until something is assigned anew
- `["finish", seconds, how]`: read and commit (how of "": do not), until the group has all records
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import jpype

from barnabas.designs.rebalances.java.consumers import (
    alone_at_first,
    commit_callback,
    except_partitions,
    exception_name,
    offset_pairs,
    partition_numbers,
    positions,
    rebalance_listener,
    values,
    with_mark,
)
from barnabas.peers.apache.client_values import java_list, new_consumer, poll_timeout

HEARING: Final = 90.0
"""The longest wait for another member in seconds."""
POLL_MS: Final = 200


class _Group:
    """The shared state of a group's members. records: number of different records."""

    def __init__(self, records: int) -> None:
        self._wanted = records
        self._said: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        self._read: set[str] = set()
        self.over = threading.Event()

    def signal_of(self, signal: str) -> threading.Event:
        with self._lock:
            return self._said.setdefault(signal, threading.Event())

    def got(self, ids: Sequence[str]) -> None:
        with self._lock:
            self._read.update(ids)
            if len(self._read) >= self._wanted:
                self.over.set()


class _Member:
    """A consumer that follows its script, and its events: [seconds since 1970, kind, ...]."""

    def __init__(
        self,
        group: _Group,
        options: Mapping[str, Any],
        topic: str,
        tell: Callable[[str, list[Any]], None],
    ) -> None:
        self.seen: list[list[Any]] = []
        self._tell = tell
        self._records = self._enough = self._assigned = 0
        self._timeouts: dict[int, Any] = {}
        self._only: Any = None
        """The partitions that are read, None for all."""
        self._group = group
        self._about = options
        self._topic = topic
        self._do: dict[str, Callable[..., Any]] = {
            "settle": self._settle,
            "read": self._read,
            "poll": self._poll,
            "commit": self._commit,
            "keep": self._keep,
            "work": self._work,
            "say": lambda signal: group.signal_of(signal).set(),
            "hear": self._hear,
            "wait": time.sleep,
            "rejoin": self._rejoin,
            "finish": self._finish,
        }

    def follow(self) -> None:
        """Run the script. A client's exception ends it, and is noted."""
        steps = list(self._about["steps"])
        consumer = None
        try:
            while steps and steps[0][0] in ("hear", "wait"):
                name, *rest = steps.pop(0)
                self._do[name](*rest)
            consumer = self._begin()
            for name, *rest in steps:
                self._do[name](*rest)
        except jpype.JException as problem:
            self._note("died", exception_name(problem), str(problem.getMessage()))
        except TimeoutError as problem:
            self._note("died", "TimeoutError", str(problem))
        finally:
            try:
                if consumer is not None:
                    consumer.close()
            except jpype.JException as problem:
                self._note("not closed", exception_name(problem), str(problem.getMessage()))

    @alone_at_first
    def _begin(self) -> Any:
        self._consumer = new_consumer(self._about["settings"])
        self._note("subscribes")
        self._consumer.subscribe(java_list(self._topic), self._listener())
        return self._consumer

    def _note(self, kind: str, *rest: Any) -> None:
        self.seen.append([round(time.time(), 4), kind, *rest])
        self._tell(self._about["settings"]["client.id"], self.seen[-1])

    def _poll(self, milliseconds: int = POLL_MS) -> int:
        begun = time.time()
        if milliseconds not in self._timeouts:
            self._timeouts[milliseconds] = poll_timeout(self._consumer, milliseconds)
        (polled,) = self._polled(self._timeouts[milliseconds])
        polled_values = values(polled)
        if polled_values:
            self.seen.append([round(begun, 4), "polls"])
            self._note("reads", *polled_values)
            self._group.got(polled_values)
        self._records += len(polled_values)
        return len(polled_values)

    @alone_at_first
    def _polled(self, timeout: Any) -> list[Any]:
        """Poll, and return a list, which may be empty."""
        return [self._consumer.poll(timeout)]

    def _settle(self, count: int) -> None:
        with self._reading():
            self._until(lambda: self._consumer.assignment().size() == count)

    def _keep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with self._reading():
            self._until(lambda: time.monotonic() > until)

    def _work(self, seconds: float) -> None:
        self._note("works")
        time.sleep(seconds)
        self._note("worked")

    def _rejoin(self) -> None:
        before = self._assigned
        self._note("joins")
        with self._reading():
            self._until(lambda: self._assigned > before)

    def _read(self, count: int) -> None:
        for partition in sorted(self._consumer.assignment(), key=str):
            with self._reading(partition):
                self._enough = self._records + count
                self._until(lambda: self._records >= self._enough)

    @contextmanager
    def _reading(self, *partitions: Any) -> Iterator[None]:
        """Read only these partitions, and none that is assigned meanwhile."""
        self._only = java_list(*partitions)
        self._resume(self._only)
        try:
            yield
        finally:
            self._only = None
            self._resume(self._consumer.assignment())

    @alone_at_first
    def _resume(self, partitions: Any) -> None:
        """Read only these partitions."""
        self._consumer.pause(self._consumer.assignment())
        self._consumer.resume(partitions)

    def _until(self, so: Callable[[], bool]) -> None:
        until = time.monotonic() + HEARING
        while not so():
            self._poll()
            if time.monotonic() > until:
                raise TimeoutError(f"it took more than {HEARING:g} s")

    def _hear(self, signal: str) -> None:
        if not self._group.signal_of(signal).wait(HEARING):
            raise TimeoutError(f"nobody said {signal!r}")

    def _finish(self, seconds: float, how: str) -> None:
        until = time.monotonic() + seconds
        while not self._group.over.is_set() and time.monotonic() < until:
            if self._poll() and how:
                self._commit(how, "later")

    @alone_at_first
    def _commit(self, how: str, mark: str) -> None:
        offsets = positions(self._consumer, self._consumer.assignment(), mark)
        self._note("commits", mark, how, offset_pairs(offsets))
        if how == "sync":
            self._sync(offsets, mark)
        else:
            again = how == "again"
            self._consumer.commitAsync(offsets, self._callback(mark, offsets if again else None))

    def _sync(self, offsets: Any, mark: str) -> None:
        try:
            self._consumer.commitSync(offsets)
            self._note("committed", mark, "")
        except jpype.JException as problem:
            self._note("committed", mark, exception_name(problem))

    def _callback(self, mark: str, offsets: Any = None) -> Any:
        """Create an OffsetCommitCallback that notes its result; offsets: for one more commit.

        It uses these instead of the callback's offsets: the consumer of the new protocol passes none if a
        commit failed.
        """

        def complete(_: Any, problem: Any) -> None:
            name = "" if problem is None else exception_name(problem)
            self._note("committed", mark, name)
            if offsets is not None and name == "RetriableCommitFailedException":
                retry = with_mark(offsets, "again")
                self._note("commits", "again", "async", offset_pairs(retry))
                self._consumer.commitAsync(retry, self._callback("again"))

        return commit_callback(complete)

    def _listener(self) -> Any:
        """Create a ConsumerRebalanceListener that notes its calls, and commits if the script says so."""

        def assigned(partitions: Any) -> None:
            self._note("assigned", *partition_numbers(partitions))
            self._assigned += 1
            if self._only is not None:
                self._consumer.pause(except_partitions(partitions, self._only))

        def revoked(partitions: Any) -> None:
            self._note("revoked", *partition_numbers(partitions))
            if self._about.get("commits_when_revoked") and partitions.size():
                offsets = positions(self._consumer, partitions, "revoked")
                self._note("commits", "revoked", "sync", offset_pairs(offsets))
                self._sync(offsets, "revoked")

        def lost(partitions: Any) -> None:
            self._note("lost", *partition_numbers(partitions))

        return rebalance_listener(assigned, revoked, lost)


def follow(request: dict[str, Any]) -> dict[str, Any]:
    """Run groups that read `topic`, all at once, each member in a thread; return the events of each.

    groups: lists of members, each with `settings`, `steps` and `commits_when_revoked`. notes: a file to which
    each event is written as it happens, which remains if the process is killed.
    """
    with Path(request["notes"] or os.devnull).open("a", buffering=1) as notes:

        def tell(client_id: str, event: list[Any]) -> None:
            notes.write(json.dumps([client_id, *event]) + "\n")

        groups = []
        for abouts in request["groups"]:
            group = _Group(request["count"])
            groups.append([_Member(group, options, request["topic"], tell) for options in abouts])
        everybody = [member for group in groups for member in group]
        with ThreadPoolExecutor(len(everybody)) as pool:
            for done in [pool.submit(member.follow) for member in everybody]:
                done.result()
    return {"groups": [[member.seen for member in group] for group in groups]}
