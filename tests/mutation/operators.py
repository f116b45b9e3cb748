"""Mutants of a module: small changes of the source inside functions, as somebody might write by mistake."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
Functions = ast.FunctionDef | ast.AsyncFunctionDef


class Mutant(NamedTuple):
    """A change of a module: the text between two offsets of its source is replaced."""

    file: str
    function: str
    """The qualified name of the outermost function around the change."""
    line: int
    begin: int
    end: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """What identifies the mutant as long as the line is the same."""
        return f"{self.file}:{self.line}: {self.before} -> {self.after}"

    def applied(self, source: str) -> str:
        """Return the source with the change."""
        return source[: self.begin] + self.after + source[self.end :]


def mutants(file: str, source: str) -> list[Mutant]:
    """Return the mutants of a module, in the order of its lines."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for function, qualified in _functions(ast.parse(source), ""):
        for node in _changeable(function):
            for begin, end, after in _changes(node, source, starts):
                number, before = source.count("\n", 0, begin) + 1, source[begin:end]
                if before != after:
                    found.append(Mutant(file, qualified, number, begin, end, before, after))
    return sorted(set(found), key=lambda each: (each.begin, each.end, each.after))


def _functions(node: ast.AST, around: str) -> Iterator[tuple[Functions, str]]:
    """Yield the outermost functions of a module and of its classes, with their qualified names."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, Functions):
            yield inner, around + inner.name
        elif isinstance(inner, ast.ClassDef):
            yield from _functions(inner, f"{around}{inner.name}.")
        elif isinstance(inner, ast.If | ast.Try | ast.With):
            yield from _functions(inner, around)


def _changeable(function: Functions) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body; annotations and docstrings are not among them."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(
                node, ast.Call
            ):
                continue
            waiting += [
                each
                for each in (value if isinstance(value, list) else [value])
                if isinstance(each, ast.AST)
            ]


def _changes(node: ast.AST, source: str, starts: list[int]) -> Iterator[tuple[int, int, str]]:
    """Yield (begin, end, new text) for each change of a node."""

    def span(part: ast.expr | ast.stmt) -> tuple[int, int]:
        assert part.end_lineno is not None
        assert part.end_col_offset is not None
        return (
            _offset(source, starts, part.lineno, part.col_offset),
            _offset(source, starts, part.end_lineno, part.end_col_offset),
        )

    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            begin, end = span(left)[1], span(right)[0]
            if (text := source[begin:end]).strip("() \n"):
                word = text.strip("() \n")
                at = begin + text.index(word)
                yield at, at + len(word), COMPARISONS[type(op)]
        case ast.BoolOp(op=op, values=[*values]):
            old, new = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
            for left, right in pairwise(values):
                begin, end = span(left)[1], span(right)[0]
                if old in source[begin:end]:
                    at = begin + source[begin:end].index(old)
                    yield at, at + len(old), new
        case ast.UnaryOp(op=ast.Not()):
            yield span(node)[0], span(node)[0] + len("not "), ""
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            old, new = ARITHMETIC[type(op)]
            begin, end = span(left)[1], span(right)[0]
            if old in source[begin:end] and not _is_text(left) and not _is_text(right):
                at = begin + source[begin:end].index(old)
                yield at, at + len(old), new
        case ast.Constant(value=bool() as value):
            yield (*span(node), str(not value))
        case ast.Constant(value=int() as value):
            yield (*span(node), str(value + 1))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield (*span(test), "False")
            if not isinstance(node, ast.While):
                yield (*span(test), "True")
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield (*span(value), "None")
        case ast.Break() | ast.Continue():
            yield (*span(node), "pass")
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield (*span(node), "pass")
        case ast.Assign() | ast.AugAssign() if _is_attribute(node):
            yield (*span(node), "pass")
        case ast.comprehension(ifs=[*tests]):
            for test in tests:
                yield (*span(test), "True")


def _offset(source: str, starts: list[int], line: int, column: int) -> int:
    """Return the offset of a place that ast gives as a line and a column in UTF-8."""
    start = starts[line - 1]
    text = source[start : starts[line]]
    if text.isascii():
        return start + column
    return start + len(text.encode()[:column].decode())


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.Tuple | ast.List) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_attribute(node: ast.Assign | ast.AugAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)
