"""Frames of generic helpers, which never name a bug: shared readers of bytes, and the languages' libraries.

One helper fails for bugs in different messages, so the function that called it names the bug.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

FRAMES: Final = 3
"""Innermost frames that tell bugs apart."""

_LANGUAGE: Final = re.compile(
    r"(?:io|bytes|bufio|strings|runtime|reflect|sync|net|errors|slices|sort|fmt|math)\.(?=[A-Z(]|runtime_)"
    r"|(?:encoding|compress|hash|crypto|container|internal)/|(?:java|javax|jdk|sun|scala|org\.jpype)\."
    r"|(?:asyncio|collections|concurrent|encodings|json|logging|lz4|snappy|zstandard)/\S*\.py:"
    r"|(?:_compression|bz2|codecs|contextlib|enum|functools|gzip|queue|selectors|socket|ssl|threading)\.py:"
)
"""Frames of the libraries that come with languages, of codecs, and of the bridge from Python to Java."""

_HELPERS: Final = re.compile(
    # Java: bytes, codecs, generated messages, futures, and the iterators of records, which many APIs use
    r"org\.apache\.kafka\.common\.(?:utils|compress|protocol)\."
    r"|org\.apache\.kafka\.common\.message\.\S+\.(?:<init>|read)$"
    r"|org\.apache\.kafka\.common\.requests\.\S+\.(?:<init>|(?:doP|p)arse\w*)$"
    r"|org\.apache\.kafka\.common\.record\.(?:internal\.)?(?:ByteBufferLogInputStream|RecordBatchIterator|"
    r"CompressionType|(?:Default|Legacy|Abstract(?:Legacy)?)Record(?:Batch|s)?)(?:\$\w+)*\."
    r"|org\.apache\.kafka\.clients\.consumer\.internals\.RequestFuture(?:\$\w+)*\."
    # franz-go, Sarama, kafka-go
    r"|\S*/kbin\.|\S*kmsg\.\(\*Tags\)\.|\S*/kgo\.ensureLen"
    r"|\S*sarama\.\(\*(?:real|flexible)\w*Decoder\)\.|\S*sarama\.(?:decode|versionedDecode)$"
    r"|\S*kafka-go(?:/protocol)?\.\(\*(?:decoder|pageBuffer|pageRef|messageSetReader)\)\."
    r"|\S*kafka-go\.(?:read|peek|discard)\w+$"
    # librdkafka: its portability layer, the reader of buffers, and what begins, ends and compares objects
    r"|(?:rd_(?!kafka_)|Py_|thrd_)\w+$"
    r"|rd_kafka_(?:assert|broker_(?:op|serve|update)|bufq?|crash|mk|op|q|share_ack_batch|thread|toppar|"
    r"topic_partition|Uuid)(?:_\w+)?\d?$"
    r"|rd_kafka_\w+_(?:cmp|copy|destroy|find|free|new)(?:\d\w*)?$"
    # Python: types and frames of the protocol, iterators of records, codecs
    r"|(?:aio)?kafka/protocol/\S+\.py:|<codegen:\w+>:"
    r"|(?:aio)?kafka/(?:record/(?:default_records|legacy_records|memory_records|util)|codec|util)\.py:"
    r"|\S+/sorted_set\.py:|\S+:<(?:listcomp|dictcomp|setcomp|genexpr|lambda)>$"
)

_POLLERS: Final = re.compile(
    r"org\.apache\.kafka\.common\.network\."
    r"|org\.apache\.kafka\.clients\.(?:\w+\.)*(?:Consumer)?NetworkClient(?:Utils|Delegate)?(?:\$\w+)*\."
    r"|org\.apache\.kafka\.\S+\.(?:ApplicationEventHandler\.|ConsumerUtils\.getResult|TransactionalRequestResult\.)"
    r"|org\.apache\.kafka\.common\.internals\.KafkaFutureImpl"
    r"|kafka/(?:client_async|conn|future|net/\w+|producer/future)\.py:|kafka/producer/\w+\.py:wait$"
)
"""Frames of the loops in which all calls of a library wait for the network, and of its futures."""


def is_language(frame: str) -> bool:
    """Return whether a frame is of a library that comes with the language."""
    return _LANGUAGE.match(frame) is not None


def is_helper(frame: str) -> bool:
    """Return whether a frame is of a generic helper.

    >>> is_helper("org.apache.kafka.common.utils.ByteUtils.readVarint"), is_helper("rd_kafka_buf_read")
    (True, True)
    >>> is_helper("kafka.server.KafkaApis.handle"), is_helper("rd_kafka_handle_Fetch")
    (False, False)
    """
    return is_language(frame) or _HELPERS.match(frame) is not None


def naming_frames(frames: Sequence[str]) -> tuple[str, ...]:
    """Return the frames that tell bugs apart: at most one helper, then the innermost others.

    Of the innermost helpers it is the first that does not come with the language, if there is one.

    >>> naming_frames(("rd_calloc", "rd_kafka_buf_read", "rd_kafka_handle_Fetch", "rd_kafka_serve"))
    ('rd_calloc', 'rd_kafka_handle_Fetch', 'rd_kafka_serve')
    """
    helpers = [*itertools.takewhile(is_helper, frames)]
    first = next((helper for helper in helpers if not is_language(helper)), "".join(helpers[:1]))
    others = (frame for frame in frames if not is_helper(frame))
    return tuple(filter(None, (first, *others)))[:FRAMES]


def own_frame(frames: Sequence[str]) -> str:
    """Return the innermost frame that is no helper's; "" if there is none."""
    return next((frame for frame in frames if not is_helper(frame)), "")


def without_pollers(frames: Sequence[str]) -> tuple[str, ...]:
    """Return the frames of a hang without the loops in which all calls wait; all frames if nothing remains.

    >>> without_pollers(("kafka/client_async.py:poll", "kafka/coordinator/base.py:join"))
    ('kafka/coordinator/base.py:join',)
    """
    return tuple(frame for frame in frames if not _POLLERS.match(frame)) or tuple(frames)
