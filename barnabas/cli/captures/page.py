"""`barnabas open`: a capture as a page in the browser."""

from __future__ import annotations

import asyncio
import os
import threading
import webbrowser
from collections.abc import Callable, Iterable, Iterator
from functools import partial
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
from barnabas.cli.console.output import Output
from barnabas.cli.console.until_signal import until_signal
from barnabas.loop import run
from barnabas.trouble import FINE, Trouble

if TYPE_CHECKING:
    from barnabas.proxy.control.history import History

BYTES: Final = 512 << 20
"""Bytes of bodies that are held at most."""

BATCH: Final = 256
"""Exchanges that are handed over together."""


def open_page(asked: OpenOptions) -> int:
    """Show the page until a signal asks it to end. Raises Trouble if it can't start."""
    values, keys = asked.schemas.read(), read_keys(asked.tls_keys)
    reading = Reading()
    capture = opened(*asked.files, keys=keys, growth=Growth(reading.pause))
    try:
        again = partial(open_capture, *asked.files, keys=keys)
        return run(_main(asked, capture, again, reading, values))
    finally:
        reading.stopped.set()


async def _main(
    asked: OpenOptions,
    capture: Capture,
    again: Callable[[], Capture],
    reading: Reading,
    values: Values,
) -> int:
    with needs("the page", "control"):
        from barnabas.page.api import Shown, application, is_file
        from barnabas.page.forms import of_capture
        from barnabas.page.recorded import Recorded
        from barnabas.proxy.control.guard import new_token
        from barnabas.proxy.control.history import History
        from barnabas.proxy.control.server import serve
    output, keep = Output(), asked.keep
    history = History(most=keep, bytes_=BYTES, context=capture.context, learn=capture.learn_from)
    dialect, token = spoken(capture, None), new_token()
    stop = until_signal()
    source = {"kind": "capture", "name": capture.name, "keeps": keep}
    topics, origin = capture.context.topics, of_capture(capture, again)
    text = capture.reader.meta.get("scenario")
    rules = Recorded(history, topics, text, values).routes
    shown = Shown(history, topics, source, lambda: reading.said, origin, values)
    app = application(shown, rules)
    try:
        serving = await serve(app, ("127.0.0.1", asked.port), token, is_file)
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else str(problem)
        raise Trouble(f"can't listen: {why}; choose another --port") from None

    def lacks() -> Iterator[str]:
        yield from lacking(capture)
        yield from remarks(capture, dialect)
        yield from left_over(capture.conversations)

    reading.start(capture.exchanges(inferred=True, spoken=dialect), history, lacks)
    address = f"http://{endpoint_text(serving.address)}/#token={token}"
    output.ready(address)
    if not asked.no_browser and output.err.is_terminal:
        await asyncio.to_thread(webbrowser.open, address)
    await stop.wait()
    await serving.stop()
    if reading.trouble:
        output.note(f"{capture.name}: {reading.trouble}")
    return FINE


class Reading:
    """Reads a capture in a thread, and hands its exchanges to the loop that starts it, no faster than that
    takes them."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.trouble = ""
        """Why nothing more comes, if that is not the end."""
        self.said = ""
        """The same, and what of the capture could not be read so far."""
        self._batch: list[Exchange] = []
        self._loop: asyncio.AbstractEventLoop
        self._history: History

    def start(
        self,
        exchanges: Iterator[Exchange],
        history: History,
        lacks: Callable[[], Iterable[str]],
    ) -> None:
        """Begin. lacks: what of the capture could not be read."""
        self._loop, self._history, self._lacks = asyncio.get_running_loop(), history, lacks
        threading.Thread(target=self._run, args=(exchanges,), name="reading", daemon=True).start()

    def pause(self, seconds: float) -> bool:
        """The capture has no more just now: hand over what there is. True: it is time to stop."""
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
