"""Brokers of another design, and others that answer something."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination.consuming import QUESTION as CENTRAL
from barnabas.designs.consumer_rewrite.consuming import QUESTION as REWRITE
from barnabas.designs.consuming.questions import Question, UnableError, refuse_others
from tests.designs.brokers.logs.broker import with_broker

QUESTIONS = {one.design: one for one in (CENTRAL, REWRITE)}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("design", QUESTIONS)
def test_only_who_answers_a_designs_question_is_of_it(
    design: str, question: Question, tmp_path: Path
) -> None:
    def talk(address: Address) -> None:
        asyncio.run(refuse_others([address], [question]))

    if design == question.design:
        with pytest.raises(UnableError, match=f"try `peers consume {design}`"):
            with_broker(design, tmp_path, talk)
    else:
        with_broker(design, tmp_path, talk)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize(
    "answer",
    [b"", b"\0", b"\0\0\0\0", b"\0\0\0\x08" + bytes(3), b"HTTP/1.1 400 Bad Request\r\n\r\n"],
)
async def test_whatever_else_comes_back_is_no_design(question: Question, answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            await reader.readexactly(len(question.request))
            writer.write(answer)

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        await refuse_others([server.sockets[0].getsockname()], [question])
