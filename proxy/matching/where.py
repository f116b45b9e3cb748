"""`where:`, a rule's condition: checks whether it can ever hold on the messages of the rule.

The condition's syntax tree is walked along the layouts, which define the fields. Parts that cannot be checked
(literals, results of most functions) are accepted: a rule is refused only if it can never work.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Final, NamedTuple

from jmespath.functions import Functions

from barnabas.captures.kafka.context.name_completion import gaps
from barnabas.captures.kafka.expression import Expression
from barnabas.nearest import did_you_mean
from barnabas.proxy.matching.field_paths import body_node
from barnabas.proxy.matching.match import Match
from barnabas.specs import api
from barnabas.specs.layout import Node

Tree = dict[str, Any]
"""A node of JMESPath's syntax tree: `type`, `children`, `value`."""


class Shape(NamedTuple):
    """The possible encodings of a part of the condition, over all versions; None: unknown."""

    nodes: tuple[Node, ...] | None
    path: str = ""

    def over(self, nodes: list[Node | None]) -> Shape:
        """Return the same path with these nodes; the shape is unknown if there are none."""
        return Shape(tuple(node for node in nodes if node is not None) or None, self.path)

    def elements(self) -> Shape:
        """Return the shape of an array's elements."""
        return self.over([node.element for node in self.nodes or ()])

    def flattened(self) -> Shape:
        """Return the shape after one level of nested arrays is flattened."""
        inner_nodes: list[Node | None] = []
        for node in self.nodes or ():
            inner = node.element
            inner_nodes.append(inner if inner is not None and inner.kind == "array" else node)
        return self.over(inner_nodes)

    def arrays(self) -> Shape:
        """Return the shape of an array of such values."""
        return self.over([Node("array", False, False, node) for node in self.nodes or ()])


UNKNOWN: Final = Shape(None)
_FUNCTIONS: Final[dict[str, Any]] = Functions.FUNCTION_TABLE
_SAME: Final = ("sort", "sort_by", "reverse")
_ELEMENT: Final = ("max_by", "min_by")


def check(condition: Expression, match: Match) -> list[str]:
    """Return the problems of a condition on these messages.

    Problems are fields that no version of any of them has, and functions that JMESPath does not have.
    """
    roots = []
    for key, direction, version in match.kinds():
        message = api(key).message(direction)
        # a version with topic ids alone gets the names as in the newest version that has them
        versions = [version]
        if gaps(key, version, direction):
            versions.append(max(v for v in range(version) if not gaps(key, v, direction)))
        roots += [body_node(message.layout(v)) for v in versions]
    problems: list[str] = []
    _Walk(condition.text, f"the body of {match.describe()}", problems).visit(
        condition.compiled.parsed, Shape(tuple(roots) or None)
    )
    return list(dict.fromkeys(problems))


class _Walk(NamedTuple):
    text: str
    context: str
    problems: list[str]

    def visit(self, tree: Tree, at: Shape) -> Shape:
        """Return the shape of a part of the condition where `@` has the shape `at`."""
        children = tree.get("children", [])
        match tree["type"]:
            case "field":
                return self.field(tree["value"], at)
            case "current" | "identity" | "slice":  # a slice's children are numbers
                return at
            case "subexpression" | "index_expression" | "pipe":
                return reduce(lambda shape, child: self.visit(child, shape), children, at)
            case "index":
                return at.elements()
            case "projection":
                return self.visit(children[1], self.visit(children[0], at).elements()).arrays()
            case "filter_projection":
                element = self.visit(children[0], at).elements()
                self.visit(children[2], element)
                return self.visit(children[1], element).arrays()
            case "flatten":
                return self.visit(children[0], at).flattened()
            case "value_projection":
                return self.visit_all(children[:1], at)
            case "function_expression":
                return self.function(tree["value"], children, at)
        return self.visit_all(children, at)  # comparisons, and/or/not, multi-selects

    def visit_all(self, children: list[Tree], at: Shape) -> Shape:
        """Visit parts whose results form a value of unknown shape."""
        for child in children:
            self.visit(child, at)
        return UNKNOWN

    def field(self, name: str, at: Shape) -> Shape:
        """Return the shape of a structure's field, in any version that has it."""
        if at.nodes is None or name == "_tags":
            return UNKNOWN
        path = f"{at.path}.{name}" if at.path else name
        fields: dict[str, list[Node | None]] = {}
        for node in at.nodes:
            for slot in node.struct.slots if node.struct is not None else ():
                fields.setdefault(slot.name, []).append(slot.node)
        if name in fields:
            return Shape(None, path).over(fields[name])
        if fields:
            problem = f"no field {path!r} in {self.context}{did_you_mean(name, fields)}"
            if f'"{name}"' in self.text:
                problem += f"; text is written in single quotes: '{name}'"
        elif any(node.kind == "array" for node in at.nodes):
            problem = f"{at.path!r} is an array; write {at.path}[].{name}"
        else:
            problem = f"no field {path!r} in {self.context}; {at.path!r} is a {at.nodes[0].kind}"
        self.problems.append(problem)
        return UNKNOWN

    def function(self, name: str, children: list[Tree], at: Shape) -> Shape:
        """Return the shape of a function's result; `&expression` is about the array argument's elements."""
        if name not in _FUNCTIONS:
            hint = did_you_mean(name, _FUNCTIONS)
            self.problems.append(f"no function {name!r} in JMESPath{hint}")
            return UNKNOWN
        takes = _FUNCTIONS[name]["signature"]
        variadic = bool(takes) and bool(takes[-1].get("variadic"))
        if len(children) < len(takes) or (len(children) > len(takes) and not variadic):
            self.problems.append(
                f"{name}() takes {len(takes)}{' or more' if variadic else ''}"
                f" argument{'' if len(takes) == 1 else 's'}, not {len(children)}"
            )
        array = UNKNOWN
        for child in children:
            if child["type"] != "expref":
                array = self.visit(child, at)
        mapped = UNKNOWN
        for child in children:
            if child["type"] == "expref":
                mapped = self.visit(child["children"][0], array.elements())
        if name in _SAME:
            return array
        if name in _ELEMENT:
            return array.elements()
        return mapped.arrays() if name == "map" else UNKNOWN
