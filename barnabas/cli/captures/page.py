"""`barnabas open`: a capture as a page in the browser."""

from __future__ import annotations

import asyncio
import threading
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.captures.capture import Capture, open_capture
from barnabas.captures.files.growth import Growth
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.value import Values
from barnabas.cli.captures.input import opened, spoken
from barnabas.cli.captures.options import OpenOptions
from barnabas.cli.captures.remarks import lacking, left_over, remarks
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.extras import needs
from barnabas.cli.console.listeners import listening
from barnabas.cli.console.output import Output
from barnabas.cli.console.stop import until_signal
from barnabas.loop import run
from barnabas.trouble import FINE

if TYPE_CHECKING:
    from barnabas.proxy.control.history import History

BYTES: Final = 512 << 20
"""The most bytes of bodies that are held."""

BATCH: Final = 256
"""Exchanges that are handed over together."""


def open_page(options: OpenOptions) -> int:
    """Show the page until a signal ends it. Raises Trouble if it can't start."""
    values, keys = options.schemas.read(), read_keys(options.tls_keys)
    reading = Reading()
    files, number = _linked(options.files)
    capture = opened(*files, keys=keys, growth=Growth(reading.pause))
    try:
        reopen = partial(open_capture, *files, keys=keys)
        view = "" if number is None else f"&view=exchanges&at={number}"
        return run(_main(options, capture, reopen, reading, values, view))
    finally:
        reading.stopped.set()


def _linked(files: Sequence[Path]) -> tuple[Sequence[Path], int | None]:
    """Return the files, and the exchange that is named at the end of the last one.

    >>> _linked([Path("run.pcapng#1234")])
    ([PosixPath('run.pcapng')], 1234)
    """
    name, sign, number = files[-1].name.rpartition("#")
    if not sign or not (number.isascii() and number.isdecimal()) or files[-1].exists():
        return files, None
    return [*files[:-1], files[-1].with_name(name)], int(number)


async def _main(
    options: OpenOptions,
    capture: Capture,
    reopen: Callable[[], Capture],
    reading: Reading,
    values: Values,
    view: str,
) -> int:
    with needs("the page", "control"):
        from barnabas.page.api import PageContent, application, is_file
        from barnabas.page.bookmarks import SUFFIX
        from barnabas.page.forms import of_capture
        from barnabas.page.recorded import Recorded
        from barnabas.proxy.control.guard import new_token
        from barnabas.proxy.control.history import History
        from barnabas.proxy.control.server import serve
    output, keep = Output(), options.keep
    history = History(most=keep, bytes_=BYTES, context=capture.context, learn=capture.learn_from)
    dialect, token = spoken(capture, None), new_token()
    stop = until_signal()
    files = [str(path) for path in capture.reader.given]
    source = {"kind": "capture", "name": capture.name, "files": files, "keeps": keep}
    topics, origin = capture.context.topics, of_capture(capture, reopen)
    text = capture.reader.meta.get("scenario")
    rules = Recorded(history, topics, text, values).routes
    given = [path.absolute() for path in capture.reader.given]
    # numbers of connections are those of all files together, so only one file has bookmarks beside it
    bookmarks = given[0].with_name(given[0].name + SUFFIX) if len(given) == 1 else None
    content = PageContent(history, source, lambda: reading.said, origin, values, bookmarks)
    app = application(content, rules)
    with listening("--port"):
        serving = await serve(app, ("127.0.0.1", options.port), token, is_file)

    def lacks() -> Iterator[str]:
        yield from lacking(capture)
        yield from remarks(capture, dialect)
        yield from left_over(capture.conversations)

    reading.start(capture.exchanges(inferred=True, spoken=dialect), history, lacks)
    address = f"http://{endpoint_text(serving.address)}/#token={token}{view}"
    output.ready(address)
    if not options.no_browser and output.err.is_terminal:
        await asyncio.to_thread(webbrowser.open, address)
    await stop.wait()
    await serving.stop()
    if reading.trouble:
        output.note(f"{capture.name}: {reading.trouble}")
    return FINE


class Reading:
    """A thread that reads a capture for a loop.

    It hands exchanges over in batches, and waits until the loop has taken each batch.
    """

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.trouble = ""
        """Why reading stopped before the end of the capture."""
        self.said = ""
        """`trouble`, and notes on what could not be read so far."""
        self._batch: list[Exchange] = []
        self._loop: asyncio.AbstractEventLoop
        self._history: History

    def start(
        self,
        exchanges: Iterator[Exchange],
        history: History,
        lacks: Callable[[], Iterable[str]],
    ) -> None:
        """Start the thread. lacks: Returns notes on what could not be read."""
        self._loop, self._history, self._lacks = asyncio.get_running_loop(), history, lacks
        threading.Thread(target=self._run, args=(exchanges,), name="reading", daemon=True).start()

    def pause(self, seconds: float) -> bool:
        """Hand over exchanges at the current end of a growing capture.

        Returns:
            Whether it is time to stop.
        """
        self._hand()
        return self.stopped.wait(seconds)

    def _run(self, exchanges: Iterator[Exchange]) -> None:
        try:
            for exchange in exchanges:
                self._batch.append(exchange)
                if len(self._batch) >= BATCH:
                    self._hand()
        except CaptureError as problem:
            self.trouble = f"the capture is damaged: {problem}"
        self._hand()
        self._loop.call_soon_threadsafe(self._history.close)

    def _hand(self) -> None:
        self.said = "; ".join(filter(None, (self.trouble, *self._lacks())))
        batch, self._batch = self._batch, []

        async def add() -> None:
            for exchange in batch:
                self._history.add(exchange)

        if batch:
            asyncio.run_coroutine_threadsafe(add(), self._loop).result()
