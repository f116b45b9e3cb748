"""The live log's thread: order, a bound in number and bytes, a reader that goes away."""

from __future__ import annotations

import errno
import os
import threading

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.proxy import live
from barnabas.cli.proxy.live import Live


def exchange(number: int, size: int = 0) -> Exchange:
    return Exchange(0, 1, "c:1", "me", 1, 3, 1, number, 10, request_body=bytes(size))


def test_exchanges_and_lines_come_in_order() -> None:
    seen: list[int | str] = []
    log = Live(lambda x: seen.append(x.correlation_id), seen.append)
    for number in range(3):
        log.exchange(exchange(number))
        log.line(f"line {number}")
    log.flush()
    assert seen == [0, "line 0", 1, "line 1", 2, "line 2"]
    log.close()
    assert log.lost == 0


def test_what_the_terminal_is_too_slow_for_is_lost_and_counted() -> None:
    stuck, go_on = threading.Event(), threading.Event()
    seen: list[int] = []

    def slow(found: Exchange) -> None:
        stuck.set()
        go_on.wait()
        seen.append(found.correlation_id)

    log = Live(slow, lambda _: None)
    log.exchange(exchange(0))
    stuck.wait()
    for number in range(live.BACKLOG + 5):
        log.exchange(exchange(number))
    assert log.lost == 5
    go_on.set()
    log.close(timeout=30)
    assert len(seen) == live.BACKLOG + 1


def test_lines_that_are_too_many_are_counted_and_their_number_is_said() -> None:
    stuck, go_on = threading.Event(), threading.Event()
    said: list[str] = []

    def slow(text: str) -> None:
        stuck.set()
        go_on.wait()
        said.append(text)

    log = Live(lambda _: None, slow)
    log.line("first")
    stuck.wait()
    for number in range(2 * live.BACKLOG + 5):
        log.line(f"line {number}")
    go_on.set()
    log.close(timeout=30)
    assert said[:3] == ["first", "5 lines not printed: the terminal was too slow", "line 0"]
    assert len(said) == 2 * live.BACKLOG + 2


def test_big_frames_are_bounded_in_bytes() -> None:
    stuck, go_on = threading.Event(), threading.Event()

    def slow(_: Exchange) -> None:
        stuck.set()
        go_on.wait()

    log = Live(slow, lambda _: None)
    log.exchange(exchange(0))
    stuck.wait()
    for number in range(8):
        log.exchange(exchange(number, size=live.BACKLOG_BYTES // 4))
    assert log.lost == 4
    go_on.set()
    log.close()


def test_a_reader_that_has_gone_ends_the_printing_only() -> None:
    said: list[str] = []

    def gone(_: Exchange) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    log = Live(gone, said.append)
    log.exchange(exchange(0))
    log.flush()
    log.exchange(exchange(1))
    log.line("still here")
    log.flush()
    log.close()
    assert said == ["stdout: Broken pipe; exchanges are not printed any more", "still here"]
    assert log.lost == 2
    assert log.losses == ["2 exchanges not printed: stdout: Broken pipe"]


def test_why_something_was_not_printed_is_told_apart() -> None:
    stuck, go_on = threading.Event(), threading.Event()

    def full(_: Exchange) -> None:
        stuck.set()
        go_on.wait()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    log = Live(full, lambda _: None)
    log.exchange(exchange(0))
    stuck.wait()
    for number in range(live.BACKLOG + 5):
        log.exchange(exchange(number))
    go_on.set()
    log.flush(timeout=30)
    log.exchange(exchange(1))
    log.close()
    assert log.losses == [
        "5 exchanges not printed: the terminal was too slow",
        f"{live.BACKLOG + 2} exchanges not printed: stdout: No space left on device",
    ]


def test_lines_that_nobody_can_read_stop_no_exchange() -> None:
    seen: list[int] = []

    def gone(_: str) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    log = Live(lambda found: seen.append(found.correlation_id), gone)
    log.line("to nobody")
    log.exchange(exchange(7))
    log.close()
    assert (seen, log.lost) == ([7], 0)
