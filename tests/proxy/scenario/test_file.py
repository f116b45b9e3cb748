# ruff: noqa: E501 - a table of messages, one a line
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from barnabas.captures.kafka.wording import shorten
from barnabas.proxy.effects import Effects, Wait
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.faults.duplicate import Duplicate
from barnabas.proxy.faults.hold import Hold
from barnabas.proxy.matching.message import Message
from barnabas.proxy.scenario.file import ScenarioError, load, loads
from barnabas.specs import NAMES
from tests.proxy.faults.given import message

NUMBER = "number of at most 64 bits"
TIMES = "the units are ns, us, ms, s, m, h"


def rule(text: str) -> str:
    """Return a scenario whose line 3 opens a rule and whose line 4 is this."""
    return f"version: 1\nrules:\n- name: r\n  {text}\n"


NO_PARTS = (
    "only applies to respond, because all entries of a message share its frame. For an error, write"
    " `respond: {error: ..., only: ...}`; for frames that name a partition, `match: {topic: ..., partition: ...}`"
)


def done(do: str) -> str:
    return rule(f"do: {do}")


def matching(match: str) -> str:
    return rule(f"match: {match}\n  do: close")


def asking(where: str, match: str = "{api: OffsetCommit, direction: request}") -> str:
    return f"version: 1\nrules:\n- name: r\n  match: {match}\n  where: {where}\n  do: close\n"


COMMIT = "the body of OffsetCommit request"

WRONG = [
    # the YAML
    ("", "1: the file is empty"),
    ("a: [1,\nb", "2: invalid YAML: while parsing a flow sequence expected ',' or ']', but got '<stream end>'"),
    ("version: 1\nrules: []\n---\nversion: 1", "3: invalid YAML: expected a single document in the stream but found another document"),
    ("version: 1\nseed: \x07", "2: invalid YAML: the character '\\x07' is not allowed"),
    ("version: 1\nrules: []\nrules: []", "3: the key 'rules' comes twice; first in line 2"),
    ("version: 1\nrules: !!python/name:os.system []", "2: the tag tag:yaml.org,2002:python/name:os.system is not allowed"),
    ("version: 1\nseed: !!python/name:os.system x\nrules: []", "2: invalid YAML: could not determine a constructor for the tag 'tag:yaml.org,2002:python/name:os.system'"),
    ("version: 1\nseed: 2001-99-99\nrules: []", "2: invalid YAML: '2001-99-99' is not a valid timestamp"),
    # what YAML's own readers of numbers, dates and the like raise
    *(
        (f"version: 1\nseed: {text}\nrules: []", f"2: invalid YAML: {shorten(text.partition(' ')[2] or text, 40)!r} is not a valid {kind}")
        for text, kind in (
            ("0x" + "f" * 500_000, NUMBER), ("9" * 5_000, NUMBER), ("1" + ":1" * 20_000 + ".5", NUMBER),
            ("9223372036854775808", NUMBER), ("-9223372036854775809", NUMBER), ("0x1" + "0" * 16, NUMBER),
            ("!!int _", NUMBER), ("!!float x", NUMBER), ("!!bool x", "bool"), ("!!timestamp x", "timestamp"),
        )
    ),
    (rule("when: {times: 0x" + "f" * 4_000 + "}\n  do: close"), f"4: invalid YAML: '{'0x' + 'f' * 37}…' is not a valid {NUMBER}"),
    (done("{delay: 0x" + "f" * 4_000 + "}"), f"4: invalid YAML: '{'0x' + 'f' * 37}…' is not a valid {NUMBER}"),
    ("version: 1\nrules: []\n? [a]\n: 1", "3: a key must be text"),
    ("x" * (2**20 + 1), "1: the file is longer than 1 MiB"),
    # the frame
    ("just a text", "1: the scenario: expected {version: 1, rules: [{name: NAME, do: {delay: 200ms}}]}, not 'just a text'"),
    ("rules: []", "1: 'version' is missing in the scenario"),
    ("version: 1", "1: 'rules' is missing in the scenario"),
    ("version: 2\nrules: []", "1: version: must be 1, not 2"),
    ("version: 1\nseed: '7'\nrules: []", "2: seed: must be a whole number, not '7'"),
    ("version: 1\nrules: {}", "2: rules: must be a list, not a mapping"),
    ("version: 1\nrules:\n- null", "3: the rule: expected {name: NAME, do: {delay: 200ms}}, not null"),
    ("version: 1\nrules: []\nruels: 1", "3: unknown key 'ruels' in the scenario; did you mean 'rules'?"),
    # a rule
    ("version: 1\nrules:\n- do: close", "3: 'name' is missing in the rule"),
    ("version: 1\nrules:\n- {name: '', do: close}", "3: name: must not be empty"),
    ("version: 1\nrules:\n- {name: a, do: close}\n- {name: a, do: drop}", "4: two rules are called 'a'; the other one in line 3"),
    (rule("match: {}"), "3: 'do' is missing in the rule"),
    (rule("whree: a\n  do: close"), "4: unknown key 'whree' in the rule; did you mean 'where'?"),
    (rule("api: Produce\n  do: close"), "4: unknown key 'api' in the rule; it belongs in match"),
    (rule("delay: 3s\n  do: close"), "4: unknown key 'delay' in the rule; it belongs in do"),
    # match
    (matching("{record: offset}"), "4: unknown key 'record' in match; it belongs beside match"),
    (matching("{api: Fetsh}"), "4: api: no API is called 'Fetsh'; did you mean 'Fetch'?"),
    (matching("{api: [Fetch,\n    Produse]}"), "5: api: no API is called 'Produse'; did you mean 'Produce'?"),
    (matching("{api: 999}"), f"4: api: no API has key 999; the keys are 0 to {max(NAMES)}"),
    (matching("{api: true}"), "4: api: expected the name or key of an API, not True"),
    (matching("{api: []}"), "4: api: must not be empty"),
    (matching("{direction: requets}"), "4: direction: must be 'request' or 'response', not 'requets'"),
    (matching("{client_id: 7}"), "4: client_id: must be text, not 7"),
    (matching("{clientid: a}"), "4: unknown key 'clientid' in match; did you mean 'client_id'?"),
    (matching("{partition: x}"), "4: partition: 'x' is not a partition: write 11, 3-9 or 12+"),
    (matching(f"{{broker: [1, {'9' * 5000}]}}"), f"4: invalid YAML: '{'9' * 39}…' is not a valid {NUMBER}"),
    (matching(f'{{partition: "0-{"9" * 5000}"}}'), f"4: partition: '0-{'9' * 37}…{'9' * 18}' is not a partition: write 11, 3-9 or 12+"),
    (matching("{version: 3.5}"), "4: version: 3.5 is not a version: write 11, 3-9 or 12+"),
    (matching("{version: 9-3}"), "4: version: '9-3' is a range whose end is before its start"),
    (matching("{api: StopReplica, version: 5+}"), "4: version: v5+ does not exist: StopReplica has versions 0 to 4"),
    # when
    (rule("when: {tims: 1}\n  do: close"), "4: unknown key 'tims' in when; did you mean 'times'?"),
    (rule("when: {skip: -1}\n  do: close"), "4: skip: must be at least 0, not -1"),
    (rule("when: {times: 0}\n  do: close"), "4: times: must be at least 1, not 0"),
    (rule("when: {probability: 1.5}\n  do: close"), "4: probability: must be at most 1.0, not 1.5"),
    (rule("when: {probability: .nan}\n  do: close"), "4: .nan is not a number in JSON"),
    (rule("do: {edit: {set: {a: -.inf}}}"), "4: -.inf is not a number in JSON"),
    (rule("when: {scope: client}\n  do: close"), "4: scope: must be 'connection' or 'rule', not 'client'"),
    # do
    (done("{delai: 1s}"), "4: unknown key 'delai' in do; did you mean 'delay'?"),
    (done("{delay: {by: 1s},\n    cloze: {}}"), "5: unknown key 'cloze' in do; did you mean 'close'?"),
    (done("clos"), "4: unknown fault 'clos' in do; did you mean 'close'?"),
    (done("{delay: {by: 1s, only: {topic: t}}}"), f"4: delay: {NO_PARTS}"),
    (done("{hold: {messages: 1, only: {topic: t}}}"), f"4: hold: {NO_PARTS}"),
    (done("{drop: {only: {topic: t}}}"), f"4: drop: {NO_PARTS}"),
    (done("{edit: {only: {topic: t}}}"), "4: edit: only applies to respond. Choose the entry in the path:"
     " `topics[name=orders].partitions[0].error_code`"),
    (done("{respond: {error: 6, only: {}}}"), "4: only: give topic, partition, group, transactional_id, producer_id, member, resource,"
     " config or principal"),
    (done("{respond: {body: {}, only: {topic: t}}}"), "4: respond: only needs an error"),
    (done("{respond: {body: {}, after: true}}"), "4: respond: after needs an error"),
    (done("[close,\n   3]"), "5: do: expected a fault, or several, such as {delay: 200ms}"),
    (done("[]"), "4: do: must not be empty"),
    (done("{}"), "4: do: expected a fault, or several, such as {delay: 200ms}"),
    (done("delay"), "4: 'by' is missing in delay"),
    (done("{delay: 200}"), "4: by: 200 needs a unit: ns, us, ms, s, m, h"),
    (done("{delay: 5 sec}"), f"4: by: unknown unit 'sec' in '5 sec'; {TIMES}"),
    (done("{delay: soon}"), f"4: by: 'soon' is not a duration such as 5s; {TIMES}"),
    (done("{delay: 0.5ns}"), "4: by: '0.5ns' is not a whole number of ns"),
    (done("{delay: 25h}"), "4: by: '25h' is longer than 24h"),
    (done("{delay: {by: 1s,\n    jiter: 1s}}"), "5: unknown key 'jiter' in delay; did you mean 'jitter'?"),
    (done("{delay: {by: 1s, distribution: gauss}}"), "4: distribution: must be 'uniform', 'normal' or 'pareto', not 'gauss'"),
    (done("hold"), "4: hold: give one of until, messages, time and control"),
    (done("{hold: {time: 5s, messages: 3}}"), "4: hold: give one of until, messages, time and control"),
    (done("{hold: {control: now}}"), "4: control: must be true or false, not 'now'"),
    (done("{hold: {messages: 0}}"), "4: messages: must be at least 1, not 0"),
    (done("{hold: {messages: 3,\n    same: broker}}"), "5: same: must be 'connection', 'client', 'group' or 'any', not 'broker'"),
    (done("{hold: {until: {}, same: any}}"), "4: hold: same goes with messages; until has its own: until: {same: client}"),
    (done("{hold: {time: 1m}}"), "4: hold: time is longer than at_most: give a longer at_most"),
    (done("{hold: 5s}"), "4: hold: expected {until: {api: Produce}}, not '5s'"),
    (done("{hold: {until: {api: JoinGrop}}}"), "4: api: no API is called 'JoinGrop'; did you mean 'JoinGroup'?"),
    (done("{hold: {until: {sam: any}}}"), "4: unknown key 'sam' in until; did you mean 'same'?"),
    (done("{reorder: {}}"), "4: reorder: give one of swap, reverse and shuffle"),
    (done("{reorder: {swap: 1, shuffle: 2}}"), "4: reorder: give one of swap, reverse and shuffle"),
    (done("{reorder: {shuffle: 1}}"), "4: shuffle: must be at least 2, not 1"),
    (done("{drop: {selective: 1}}"), "4: selective: must be true or false, not 1"),
    (done("{close: true}"), "4: close: expected {forward: true}, not true"),
    (matching("{size: 1KiB}"), "4: size: expected {at_least: 1KiB}, not '1KiB'"),
    # where
    (asking("a =="), "5: where: 'a ==' does not compile: it ends too early"),
    (asking("7"), "5: where: must be text, not 7"),
    (asking("''"), "5: where: '' does not compile: it is empty"),
    (asking("generation_id_or_member_epoch == 1 2"), "5: where: 'generation_id_or_member_epoch == 1 2' does not compile: unexpected 2 at column 36"),
    (asking("grup_id == 'a'"), f"5: where: no field 'grup_id' in {COMMIT}; did you mean 'group_id'?"),
    (asking("topics[].nam"), f"5: where: no field 'topics.nam' in {COMMIT}; did you mean 'name'?"),
    (asking("topics.name"), "5: where: 'topics' is an array; write topics[].name"),
    (asking("group_id.x"), f"5: where: no field 'group_id.x' in {COMMIT}; 'group_id' is a string"),
    (asking("'member_id == \"m\"'"), f"5: where: no field 'm' in {COMMIT}; text is written in single quotes: 'm'"),
    (asking("lenght(topics)"), "5: where: no function 'lenght' in JMESPath; did you mean 'length'?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), WRONG, ids=[str(p)[:60] for _, p in WRONG])
def test_wrong_scenarios_are_refused_with_their_line(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(text, "scenario.yaml")
    assert caught.value.problems == (f"scenario.yaml:{problem}",)
    assert str(caught.value) == "\n".join(caught.value.problems)


def test_all_problems_of_a_file_come_at_once_in_order_of_lines() -> None:
    text = """version: 1
seed: x
rules:
- name: a
  match: {api: Fetsh, directoin: request}
  when: {skip: -1}
  do: {delai: 1s, delay: 3}
- name: a
  where: nothing_has_this
  do: clos
"""
    with pytest.raises(ScenarioError) as caught:
        loads(text, "s")
    lines = [int(problem.split(":")[1]) for problem in caught.value.problems]
    assert lines == [2, 5, 5, 6, 7, 7, 8, 9, 10]


@pytest.mark.parametrize("depth", [100, 250_000])
@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused(depth: int, opening: str) -> None:
    with pytest.raises(ScenarioError, match=r"s:1: is nested deeper"):
        loads(opening * depth, "s")


def test_aliases_may_not_explode_nor_name_themselves_and_work_else() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(ScenarioError, match="more than 100000 values"):
        loads("\n".join(lines), "s")
    with pytest.raises(ScenarioError, match="nested deeper"):
        loads("version: 1\nrules: &r [*r]", "s")
    text = "version: 1\nrules:\n- name: a\n  match: &m {api: Fetch}\n  do: close\n"
    found = loads(text + "- name: b\n  match: *m\n  do: close\n")
    assert found.rules[0].match == found.rules[1].match


def test_a_whole_scenario() -> None:
    found = loads("""
version: 1
seed: 7
rules:
  - name: commits arrive after the join
    match: {api: [offsetcommit, 1, "3"], direction: request, client_id: "orders-*", version: 2-9}
    where: "group_id == 'orders'"
    when: {skip: 2, times: 1, probability: 0.5, scope: rule}
    do: {hold: {until: {api: JoinGroup, direction: request, same: group}, at_most: 5s}, duplicate: }
""")
    (one,) = found.rules
    assert found.seed == 7
    assert one.match.api == frozenset({8, 1, 3})
    assert one.match.client_id == ("orders-*",)
    assert one.match.version == (2, 9)
    assert (one.when.skip, one.when.times, one.when.probability) == (2, 1, 0.5)
    held, repeated = (planned.config for planned in one.do)
    assert isinstance(held, Hold)
    assert held.until is not None
    assert (held.at_most, held.until.same) == (5_000_000_000, "group")
    assert repeated == Duplicate()


@pytest.mark.parametrize(("do", "names"), [
    ("close", ["close"]),
    ("[close]", ["close"]),
    ("{duplicate: , close: {forward: true}}", ["duplicate", "close"]),
    ("[{delay: 1s}, slice]", ["delay", "slice"]),
    ("[{delay: 1s}, {delay: 2s}]", ["delay", "delay"]),
    ("{reorder: {swap: 1}, delay: {by: 1s}}", ["reorder", "delay"]),
])  # fmt: skip
def test_faults_keep_the_order_in_which_they_are_written(do: str, names: list[str]) -> None:
    assert [planned.name for planned in loads(done(do)).rules[0].do] == names


def test_faults_of_ones_own() -> None:
    class Late(BaseModel):
        factor: int

    def late(config: Late, message: Message, roll: Any) -> Effects:
        return (Wait(config.factor),)

    faults: tuple[Fault, ...] = (*FAULTS, ("late", Late, late))
    (planned,) = loads(done("{late: 3}"), faults=faults).rules[0].do
    assert planned.act(planned.config, message(), lambda: 0.0) == (Wait(3),)
    with pytest.raises(ScenarioError, match="did you mean 'late'"):
        loads(done("{lat: 3}"), faults=faults)
    with pytest.raises(ScenarioError, match="s:4: 'factor' is missing in late"):
        loads(done("late"), "s", faults=faults)


def test_files_are_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_bytes(b"version: 1\nrules: [{name: \xff, do: close}]")
    with pytest.raises(ScenarioError, match=re.escape("one.yaml:2: the file is not UTF-8")):
        load(path)
    path.write_bytes("\ufeffversion: 1\nrules: [{name: é, do: close}]".encode())
    assert load(path).rules[0].name == "é"


def test_no_more_is_read_of_a_file_than_a_scenario_may_be_long() -> None:
    with pytest.raises(ScenarioError, match="zero:1: the file is longer than 1 MiB"):
        load(Path("/dev/zero"))
