"""Test bare literals in conditions, and the position in errors (the rest: tests of rules)."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.expression import MAX_DEPTH, MAX_LENGTH, Unclear, expression, quote


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a > 5", "a > `5`"),
        ("5 < a", "`5` < a"),
        ("a>=-1.5e3", "a>=`-1.5e3`"),
        ("a == true || b != null", "a == `true` || b != `null`"),
        ("topics[0].x == 0", "topics[0].x == `0`"),
        ("topics[-1]", "topics[-1]"),
        ("topics[1:2:1].x", "topics[1:2:1].x"),
        ("topics[?n > 5]", "topics[?n > `5`]"),
        ("topics[?5 < n] | [0]", "topics[?`5` < n] | [0]"),
        ("contains(x, 3)", "contains(x, `3`)"),
        ("a == '5 > 4'", "a == '5 > 4'"),
        ("\"a > 5\" == `5`", "\"a > 5\" == `5`"),
        (r"a == 'it\'s > 5'", r"a == 'it\'s > 5'"),
        ("a5 == b6", "a5 == b6"),
        ("true == a.true", "`true` == a.true"),
        ("nullable", "nullable"),
        ("a == nullable", "a == nullable"),
        ("", ""),
        ("(5)", "(`5`)"),
        ("> 5", "> `5`"),  # what is wrong is quoted, too: its error has the right column
    ],
)  # fmt: skip
def test_what_is_compared_may_stand_bare(text: str, quoted: str) -> None:
    assert quote(text) == quoted
    assert quote(quoted) == quoted


def test_a_bare_number_is_a_number() -> None:
    assert expression("a > 5 && b[0] == 1.5").holds({"a": 6, "b": [1.5]})
    assert not expression("a > 5").holds({"a": 5})
    assert not expression("a > 5").holds({"a": None})


@pytest.mark.parametrize(
    ("text", "column"), [("a > 5 b", 7), ("a > `5` b", 9), ("a b", 3), ("x == 10 && y ==== 3", 16)]
)
def test_an_error_names_the_column_of_what_was_written(text: str, column: int) -> None:
    with pytest.raises(ValueError, match=rf"at column {column}$"):
        expression(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abs(a)", "abs() takes number, not string"),
        ("max(b)", "max() takes array-number or array-string, not list"),
        ("length(n)", "length() takes string, array or object, not number"),
    ],
)
def test_an_error_names_all_types_that_a_function_takes(text: str, problem: str) -> None:
    with pytest.raises(Unclear) as raised:
        expression(text).value({"a": "x", "b": [[]], "n": 5})
    assert str(raised.value) == problem


@pytest.mark.parametrize("sign", [" || ", " && "])
def test_a_chain_is_decided_or_refused(sign: str) -> None:
    row = {"a": "x" if sign == " && " else "y"}
    longest = sign.join(["a == 'x'"] * (MAX_DEPTH - 1))  # a comparison is two deep
    assert expression(longest).holds(row) == (sign == " && ")
    with pytest.raises(ValueError, match="is nested too deeply"):
        expression(f"{longest}{sign}a == 'x'")


def test_a_condition_that_would_take_long_to_compile_is_refused() -> None:
    assert expression("api" + " " * (MAX_LENGTH - 3)).roots == ("api",)
    with pytest.raises(ValueError, match="longer than 10,000 characters"):
        expression(f"[{','.join(['api'] * MAX_LENGTH)}]")


@pytest.mark.parametrize(
    "text", ["n > 'x'", "'x' < n", "a && !(n <= 'x' || b)", "a >= null", "a[?b <= `[]`]"]
)
def test_an_order_that_never_holds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is neither more nor less than a number"):
        expression(text, ["n"])


@pytest.mark.parametrize("text", ["a > 'm'", "b[?n > 'm']", "'m' < a && b"])
def test_text_has_an_order_too(text: str) -> None:
    """A field within another is not the one of that name at the top."""
    compiled = expression(text, ["n"])
    assert compiled.holds({"a": "n", "b": [{"n": "n"}]})
    assert not compiled.holds({"a": "a", "b": [{"n": "a"}]})


@pytest.mark.parametrize(
    "text",
    [
        "[a,a]" + "|[@[],@[]]" * 30,
        "a" + "|[@,@]" * 60 + "|to_string(@)",
        "a" + "|[@,@]" * 60 + " == a" + "|[@,@]" * 60,
        "a" + "|{b: @, c: @}" * 30,
        "map(&[@,@], " * 30 + "[a]" + ")" * 30,
        "a" + "|join(@, [@])" * 8,
        "join(`" + "x" * 200 + "`, a)",
        "[a]" + "|[join('',[@[0],@[0]])]" * 60,
        "[a]" + "|[to_string(@)]" * 30,
        "a" + "|merge({b: @}, {c: @})" * 30,
        "a[?" + "[b,b]|" * 30 + "c]",
    ],
)
def test_what_would_fill_any_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^may copy what it looks at more than 100 times$"):
        expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "join(', ', [join(', ', rules), 'more'])",
        "join(', ', topics[?contains(name, 'x')].name) != ''",
        " || ".join(f"contains(rules, 'rule {number}')" for number in range(100)),
        "topics[].partitions[].[index, error_code, leader_id][] | [?@ > 5] | length(@) > 3",
        "sort_by(topics, &name)[*].{name: name, many: length(partitions)} | [?many > 5]",
    ],
)
def test_what_one_asks_is_taken(text: str) -> None:
    expression(text)
