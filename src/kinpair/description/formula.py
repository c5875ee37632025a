"""Formulas as text: "0.3*sin(2*pi*t)" → a function of t, for floats, symbols and jets alike.

Only arithmetic, numbers, the named variables, pi, and the functions listed here are taken; nothing is executed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from reprlib import repr as shown
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.algebra.user_functions import call
from kinpair.description.fields import number
from kinpair.errors import DescriptionError, KinpairError, TraceError, described, listed, nearest

if TYPE_CHECKING:
    from kinpair.description.constraint_parts import Formula
    from kinpair.description.place import Place

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "atan": np.arctan,
}
CONSTANTS = {"pi": math.pi}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Pow: operator.pow,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
LONGEST = 1000
RATE = "_rate"  # behind the name of a coordinate
HIGHEST = 64  # power


def formula(value: object, place: Place) -> Formula:
    """A text in the variables, a number, or a Python function of them."""
    if callable(value):
        return value
    if not isinstance(value, str):
        return repr(number(value, place))
    if not value.strip():
        raise place.error("is empty; give a formula as a text, or a number")
    return value


def function_of(formula: Formula, variables: tuple[str, ...], place: Place) -> Callable[..., Any]:
    """The formula as a function of the variables, in that order; a Python function that says what goes wrong."""
    if not isinstance(formula, str):
        if not callable(formula):  # type: ignore[redundant-expr]
            raise place.error(f"is {shown(formula)}; give a text or a Python function")
        return one_number(formula, f"function of {', '.join(variables)}", place.error)
    if len(formula) > LONGEST:
        raise place.error(f"is a formula of {len(formula)} characters; at most {LONGEST} are read")
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise place.error(
            f"is {formula!r}, which is not a formula; write something like {_sample(variables)!r}"
        ) from None
    _check(tree, variables, formula, place)
    return lambda *values: _value(tree, dict(zip(variables, values, strict=True)))


def identifier(name: str) -> str:
    """The name of a coordinate in a formula."""
    return re.sub(r"\W", "_", name)


def with_error(f: Callable[..., Any], words: str, error: Callable[[str], Exception]) -> Callable[..., Any]:
    """Return a function of a user; what goes wrong in it is reported by its name, as an `error` of kinpair."""

    def run(*arguments: Any) -> Any:
        try:
            return call(f, *arguments)
        except TraceError as reason:
            raise TraceError(str(error(f"{words}: {reason}"))) from reason
        except KinpairError:
            raise
        except Exception as reason:
            raise error(f"{words} fails: {described(reason)}") from reason

    return run


def numbers(
    f: Callable[..., Any], words: str, error: Callable[[str], Exception]
) -> Callable[..., np.ndarray]:
    """Return the formula with its results as a vector of numbers, one at least."""
    run = with_error(f, words, error)

    def checked(*arguments: Any) -> np.ndarray:
        value = run(*arguments)
        entries = list(np.ravel(np.asarray(value, dtype=object)))
        if not entries:
            raise error(f"{words} gives nothing; give a number or a list of numbers")
        if not all(isinstance(x, (int, float, complex, np.number)) or hasattr(x, "arctan2") for x in entries):
            raise error(f"{words} gives {shown(value)}; give a number or a list of numbers")
        return array(entries)

    return checked


def one_number(f: Callable[..., Any], words: str, error: Callable[[str], Exception]) -> Callable[..., Any]:
    """Return the formula with one number as its result."""
    run = numbers(f, words, error)

    def checked(*arguments: Any) -> Any:
        value = run(*arguments)
        if len(value) != 1:
            raise error(f"{words} gives {len(value)} numbers; give one")
        return value[0]

    return checked


def _sample(variables: tuple[str, ...]) -> str:
    if variables == ("t",):
        return "0.3*sin(2*pi*t)"
    return "x**2 + y**2 - z" if variables == ("x", "y", "z") else f"{variables[0]} - 0.1*sin(t)"


def _check(node: ast.expr, variables: tuple[str, ...], formula: str, place: Place) -> None:
    match node:
        case ast.Constant(value=bool() | str() | bytes() | None):
            pass
        case ast.Constant(value=int() | float()):
            return None
        case ast.Name(id=name):
            if name in variables or name in CONSTANTS:
                return None
            raise _unknown(name, (*variables, *CONSTANTS), "variable", formula, place)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            if isinstance(op, ast.Pow) and not _is_power(right):
                raise place.error(
                    f"has a power in {formula!r} that is not a whole number up to {HIGHEST}; use sqrt, exp or log"
                )
            _check(left, variables, formula, place)
            return _check(right, variables, formula, place)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _SIGNS:
            return _check(operand, variables, formula, place)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            if name not in FUNCTIONS:
                raise _unknown(name, FUNCTIONS, "function", formula, place)
            return _check(argument, variables, formula, place)
        case _:
            pass
    raise place.error(
        f"has {ast.unparse(node)!r} in the formula {formula!r}; formulas have numbers, {listed(variables)}, pi, "
        f"+ - * / **, and {listed(FUNCTIONS)}"
    )


def _is_power(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) <= HIGHEST


def _unknown(
    name: str, known: Mapping[str, Any] | tuple[str, ...], word: str, formula: str, place: Place
) -> DescriptionError:
    others = f"{nearest(name, known)}{word.capitalize()}s: {listed(known)}"
    return place.error(f"has the {word} {name!r} in the formula {formula!r}; {others}")


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return float(value)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return values[name] if name in values else CONSTANTS[name]
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _value(left, values) ** int(_value(right, values))
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, values), _value(right, values))
        case ast.UnaryOp(op=op, operand=operand):
            return _SIGNS[type(op)](_value(operand, values))
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name](_value(argument, values))
        case _:
            raise AssertionError(ast.dump(node))  # `_check` has let nothing else pass
