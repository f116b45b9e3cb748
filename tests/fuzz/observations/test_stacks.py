"""Frames of stacks: those that name a bug, in logs of Java, panics of Go and dumps of clients that hang."""

from __future__ import annotations

from barnabas.fuzz.observations.crashes import HEAP, find_crash
from barnabas.fuzz.observations.hangs import hang_frames
from barnabas.fuzz.observations.java_stacks import exceptions_in
from barnabas.fuzz.targets.clients.native_frames import with_names

UTILS = "org.apache.kafka.common.utils.ChunkedBytesStream"
CAUSED = f"""\
[handler-1] ERROR kafka.server.ReplicaManager - [ReplicaManager broker=1] Error processing append
org.apache.kafka.common.KafkaException: Failed to decompress record stream
\tat kafka.Batch.readNext(Batch.java:1)
\tat java.base/java.util.Iterator.next(Iterator.java:1)
\tat kafka.Validator.validate(Validator.java:1)
Caused by: java.io.EOFException
\tat java.base/java.io.DataInputStream.readFully(DataInputStream.java:1)
\tat {UTILS}.fill(ChunkedBytesStream.java:1)
\tat {UTILS}.read(ChunkedBytesStream.java:1)
\t... 2 more"""


def test_frames_that_a_cause_shares_with_its_exception_are_its_own_too() -> None:
    outer, root = exceptions_in(CAUSED)
    assert outer.frames == ("kafka.Batch.readNext", "kafka.Validator.validate")
    assert root.frames == (f"{UTILS}.fill", "kafka.Validator.validate"), (
        "one helper, then who calls it"
    )


def test_a_cause_of_helpers_alone_in_an_entry_that_is_cut_off_has_the_frames_of_what_it_caused() -> (
    None
):
    cut_off = CAUSED.rpartition("\n")[0]
    assert exceptions_in(cut_off)[1].frames == (
        f"{UTILS}.fill",
        "kafka.Batch.readNext",
        "kafka.Validator.validate",
    )


def test_digits_of_classes_stay() -> None:
    log = (
        "[x] ERROR a - b\njava.lang.Error: no\n"
        "\tat kafka.Lz4BlockInputStream.read(A:1)\n\tat kafka.A$$Lambda$14.f(A:1)\n"
        "\tat org.apache.kafka.common.requests.ProduceRequest.partitionSizes(A:1)"
    )
    assert exceptions_in(log)[0].frames == (
        "kafka.Lz4BlockInputStream.read",
        "kafka.A.f",
        "org.apache.kafka.common.requests.ProduceRequest.partitionSizes",
    )


def test_a_panic_in_a_reader_has_who_called_it() -> None:
    panic = (
        "panic: slice bounds out of range\n\ngoroutine 7 [running]:\n"
        "github.com/a/kbin.(*Reader).Span(0x1)\n\t/b.go:3 +0x1\n"
        "github.com/a/kbin.(*Reader).String(0x1)\n\t/b.go:9 +0x1\n"
        "github.com/a/kmsg.(*FetchResponse).readFrom(0x1)\n\t/c.go:3 +0x1\n"
    )
    crash = find_crash(panic)
    assert crash is not None
    assert crash.frames == (
        "github.com/a/kbin.(*Reader).Span",
        "github.com/a/kmsg.(*FetchResponse).readFrom",
    )


FAULTHANDLER = """\
Thread 0x00007f01 (most recent call first):
  File "/usr/lib/python3.11/selectors.py", line 468 in select

Current thread 0x00007f02 (most recent call first):
  File "/v/lib/python3.11/site-packages/kafka/consumer/fetcher.py", line 7 in _parse
  File "/v/lib/python3.11/site-packages/kafka/consumer/group.py", line 9 in poll
  File "/x/programs/with_kafka_python.py", line 1 in consume
"""


def test_a_hang_in_python_has_the_librarys_frames() -> None:
    frames = ("kafka/consumer/fetcher.py:_parse", "kafka/consumer/group.py:poll")
    assert hang_frames(FAULTHANDLER, computes=True) == frames
    assert hang_frames("waits for [ 'TCPSocketWrap' ]", computes=False) == ()


def test_a_goroutine_whose_stack_is_unavailable_has_no_frames() -> None:
    dump = (
        "goroutine 1 [select]:\na/k.wait()\n\ngoroutine 7 [running]:\n"
        "\tgoroutine running on other thread; stack unavailable\ncreated by a/k.start in goroutine 1\n"
    )
    assert hang_frames(dump, computes=True) == ()


WAITING = """\
Thread 0x00007f01 (most recent call first):
  File "/v/lib/python3.11/site-packages/kafka/net/selector.py", line 7 in run_forever
  File "/usr/lib/python3.11/threading.py", line 9 in run

Thread 0x00007f02 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 9 in wait
  File "/v/lib/python3.11/site-packages/kafka/net/selector.py", line 7 in run
  File "/v/lib/python3.11/site-packages/kafka/producer/kafka.py", line 7 in commit_transaction
  File "/x/programs/kafka_python_sessions.py", line 1 in transaction
"""


def test_who_calls_a_loop_of_connections_names_a_hang() -> None:
    commit = ("kafka/producer/kafka.py:commit_transaction",)
    assert hang_frames(WAITING, computes=False) == commit
    assert hang_frames(WAITING, computes=True) == ("kafka/net/selector.py:run_forever",)


JVM = """\
Full thread dump OpenJDK 64-Bit Server VM

"main" #1 prio=5 cpu=653.72ms nid=0x58ca runnable
   java.lang.Thread.State: RUNNABLE
\tat sun.nio.ch.EPoll.wait(java.base@17/Native Method)
\tat org.apache.kafka.common.network.Selector.select(Selector.java:8)
\tat org.apache.kafka.clients.consumer.internals.OffsetFetcher.endOffsets(OffsetFetcher.java:2)

"kafka-producer-network-thread" #9 daemon prio=5 cpu=9.72ms nid=0x58cb runnable
   java.lang.Thread.State: RUNNABLE
\tat org.apache.kafka.clients.producer.internals.Sender.sendProducerData(Sender.java:4)
\tat org.apache.kafka.clients.producer.internals.Sender.run(Sender.java:2)
"""


def test_a_hang_in_java_has_the_librarys_frames() -> None:
    internals = "org.apache.kafka.clients"
    assert hang_frames(JVM, computes=False) == (
        f"{internals}.consumer.internals.OffsetFetcher.endOffsets",
    )
    assert hang_frames(JVM, computes=True) == (
        f"{internals}.producer.internals.Sender.sendProducerData",
        f"{internals}.producer.internals.Sender.run",
    )


def test_threads_beside_the_one_that_faulted_name_no_crash() -> None:
    dump = (
        "Fatal Python error: Segmentation fault\n\nThread 0x01 (most recent call first):\n"
        '  File "/v/site-packages/kafka/a.py", line 1 in other\n\n'
        "Current thread 0x02 (most recent call first):\n  <no Python frame>\n"
    )
    assert find_crash(dump) == ("Fatal Python error: Segmentation fault", ())


NATIVE = """\
m.c:7: rd_calloc: Assertion `p' failed.
Native stack:
/v/site-packages/a.libs/rd.so.1(rd_kafka_buf_read_all+0x7)[0x7f01]
/lib/libc.so.6(abort+0xd3)[0x7f02]
/v/site-packages/a.libs/rd.so.1(rd_kafka_handle_Fetch+0x7)[0x7f03]
Fatal Python error: Aborted
"""


def test_an_assertion_in_c_has_who_called_the_function() -> None:
    assert find_crash(with_names(NATIVE)) == (
        "assertion: p",
        ("rd_calloc", "rd_kafka_handle_Fetch"),
    )
    faulted = with_names(NATIVE.partition("\n")[2])
    assert find_crash(faulted) == (
        "Fatal Python error: Aborted",
        ("rd_kafka_buf_read_all", "rd_kafka_handle_Fetch"),
    )


def test_damage_of_the_heap_is_one_reason_in_whichever_function_it_shows() -> None:
    for words in ("double free or corruption (out)", "free(): invalid pointer"):
        assert find_crash(f"{words}\n{NATIVE.partition(chr(10))[2]}") == (HEAP, ())
