from __future__ import annotations

from barnabas.captures.kafka.context.memory import Memory


def test_an_entry_is_weighed_anew_when_it_is_put_in_again() -> None:
    memory: Memory[str, tuple[str, ...]] = Memory(bytes_=1000)
    memory["a"] = memory["b"] = ()
    for _ in range(10):
        memory["b"] = ("x" * 900,)
    assert (list(memory), memory.forgotten) == (["a", "b"], 0)
    memory["b"] = ("x" * 2000,)  # the last one stays, however large
    assert (list(memory), memory.forgotten) == (["b"], 1)
    del memory["b"]
    memory["c"] = memory["d"] = ("x" * 400,)
    assert list(memory) == ["c", "d"]
