"""Methods of a mechanism whose calls go straight to machine code.

The first call of each kind (these arguments by name, these options) takes the longer path, which checks, explains and
compiles. If a kernel gives all of the result, calls of that kind are from then on answered by the kernel itself: a
built-in function takes the place of the method, with a pattern for each kind of call that was met. What fits none of
them, or is unusual otherwise, comes back to the method.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from kinpair.constraints.quantities.table import quantity_of
from kinpair.errors import LengthError

if TYPE_CHECKING:
    from kinpair.compiler.entry import Tables
    from kinpair.compiler.entry_table import Pattern
    from kinpair.evaluation.calls import Calls
    from kinpair.evaluation.quantities.request import Request

Method = TypeVar("Method", bound=Callable[..., Any])
IGNORED = ("time",)  # where the code does not take it, nothing depends on it
ARRAYS = ("out", "external")
MOST_KINDS = 1000


class Answer(NamedTuple):
    """Answer to a kind of call: the quantities of a model, which of them, and rates that must not be zero."""

    calls: Calls
    request: Request
    moving: tuple[int, ...] = ()


class Answering(Protocol):
    """Base of classes that have thin methods."""

    _thin: Thin

    def answer_to(self, method: str, options: dict[str, Any]) -> Answer | None:
        """Return what gives exactly the result of the method with these options; None where nothing does."""
        ...


def thin(method: Method) -> Method:
    """A method that learns to answer calls of each kind it has met by machine code."""

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        result = method(self, *arguments, **options)
        self._thin.learn(self, call, arguments, options)
        return result

    return call  # type: ignore[return-value]


class Thin:
    """The built-in functions of one mechanism, by method."""

    def __init__(self) -> None:
        self._known: set[Any] = set()
        self._tables: dict[str, Tables] = {}

    def learn(
        self, owner: Answering, method: Any, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> None:
        """Let machine code answer this kind of call, if it can."""
        name = method.__name__
        words = (*_parameters(method)[: len(arguments)], *options)
        values = dict(zip(words, (*arguments, *options.values()), strict=True))
        kind = (name, len(arguments), *((word, _marked(word, x)) for word, x in values.items()))
        if kind in self._known or len(self._known) > MOST_KINDS:
            return
        chosen = {word: x for word, x in values.items() if word not in STATE}
        plain = all(_is_plain(word, x) for word, x in chosen.items())
        answer = owner.answer_to(name, chosen) if plain else None
        if answer is not None and not answer.calls.is_settled(answer.request):
            return  # until machine code is there
        self._known.add(kind)
        if answer is not None:
            self._add(owner, method, answer, len(arguments), values)

    def _add(self, owner: Any, method: Any, answer: Answer, positional: int, values: dict[str, Any]) -> None:
        from kinpair.compiler.entry import thin_call

        name = method.__name__
        try:
            kernel = answer.calls.kernel(answer.request)
            if kernel is None or not kernel.is_thin:
                return
        except LengthError:  # evaluated without the compiler
            return
        state = quantity_of(answer.calls.model, answer.request.quantity).state
        pattern = _pattern(answer.request, state, positional, values, answer.calls.defaults(state))
        if name not in self._tables:
            function, self._tables[name] = thin_call(name, method.__get__(owner), kernel.store)
            vars(owner)[name] = function
        if not self._tables[name].full:
            outcome = replace(answer.calls.outcome(answer.request), moving=answer.moving)
            kernel.add_to(self._tables[name], pattern, outcome)


STATE = ("q", "qd", "qdd", "tau", "x", "u", "lam")


@cache
def _parameters(method: Any) -> tuple[str, ...]:
    """Names of the parameters, without self."""
    return tuple(inspect.signature(method).parameters)[1:]


def _marked(word: str, value: Any) -> Any:
    """Marks of calls of one kind: the option itself; of arrays, that they are given."""
    if word in STATE or word in IGNORED:
        return ...
    if word == "external" and type(value) is dict:
        return tuple(value)
    if word == "out":
        return None if value is None else ...
    return value if isinstance(value, str | bool | int | None) else type(value)


def _is_plain(word: str, value: Any) -> bool:
    """True if a pattern can recognise that the option is this one."""
    if word == "external":
        return value is None or type(value) is dict
    if word == "threads":
        return value is ONE_THREAD
    return word in IGNORED or word == "out" or value is None or type(value) in (str, bool)


ONE_THREAD = 1


def _pattern(
    request: Request,
    state: tuple[str, ...],
    positional: int,
    values: Mapping[str, Any],
    defaults: Mapping[str, np.ndarray],
) -> Pattern:
    """Pattern of the call as it was written; `state`: names of what the code takes; `defaults` are taken for parts
    of the state that were not given."""
    from kinpair.compiler.entry_table import CONSTANT, MOMENT, SLOT, WRENCH, Pattern

    slots = {word: k for k, word in enumerate(values)}
    sources = [
        (MOMENT if word == "time" else SLOT, slots[word]) if word in slots else (CONSTANT, defaults[word])
        for word in state
    ]
    sources += [(WRENCH, k) for k in range(len(request.external))]
    loads = values.get("external")
    written = values.get("out")
    options = [
        (k, values[word])
        for word, k in slots.items()
        if word not in STATE and word not in IGNORED and word not in ARRAYS
    ]
    options += [(slots[word], None) for word in ARRAYS if word in values and values[word] is None]
    return Pattern(
        positional,
        tuple(values)[positional:],
        tuple(sources),
        tuple(options),
        out=-1 if written is None else slots["out"],
        wrench_slot=-1 if loads is None else slots["external"],
        wrench_names=request.external,
    )
