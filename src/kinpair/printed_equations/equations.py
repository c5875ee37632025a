"""`equations(mechanism)`: H q̈ + C q̇ + g + d = τ in symbolic form, for reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Literal, TypeAlias, TypeVar, overload

import numpy as np

from kinpair.compiler.patience import Report
from kinpair.errors import ClosedFormError, InputError, known_keywords, listed
from kinpair.mechanism import Mechanism
from kinpair.printed_equations.closed import ClosedForm, Paper, renamed
from kinpair.printed_equations.closed_form.reading import LIMIT, write_terms
from kinpair.printed_equations.constant import Parameters
from kinpair.printed_equations.constrained import Constrained
from kinpair.printed_equations.printed import ConstrainedEquations, Equations, OnASheet, PrintedEnergy
from kinpair.printed_equations.subject import (
    ENERGIES,
    christoffel_matrices,
    groups,
    has_christoffel,
    matrices,
    rates_are_derivatives,
    recorded,
    subject_of,
)
from kinpair.system import System

E = TypeVar("E", bound=OnASheet)
Form: TypeAlias = Literal["auto", "closed", "terms"]
CHOICES: dict[str, tuple[str, ...]] = {
    "parameters": ("symbols", "shared", "numbers"),
    "form": ("auto", "closed", "terms"),
}
SECONDS = 4.0  # for the closed form, where named terms will do
OF_TREES, OF_CONSTRAINED = 2000, 150  # terms of a closed form that is not compared with named terms
WORTH = 0.6  # of the terms of the closed form, what a list of named terms may have
BODY_RATES = "q̇ is not the derivative of q where there are quaternions: the equations are in body rates"


@overload
def equations(
    mechanism: Mechanism,
    parameters: Parameters = "symbols",
    *,
    form: Form = "auto",
    limit: int = LIMIT,
    seconds: float = SECONDS,
    passive: bool = True,
    solver: None = None,
    dependent: str | Sequence[str] | None = None,
    symbols: Mapping[str, str] | None = None,
) -> Equations: ...


@overload
def equations(
    mechanism: Mechanism | System,
    parameters: Parameters = "symbols",
    *,
    form: Form = "auto",
    limit: int = LIMIT,
    seconds: float = SECONDS,
    passive: bool = True,
    solver: str | None = None,
    dependent: str | Sequence[str] | None = None,
    symbols: Mapping[str, str] | None = None,
) -> Equations | ConstrainedEquations: ...


@known_keywords
def equations(
    mechanism: Mechanism | System,
    parameters: Parameters = "symbols",
    *,
    form: Form = "auto",
    limit: int = LIMIT,
    seconds: float = SECONDS,
    passive: bool = True,
    solver: str | None = None,
    dependent: str | Sequence[str] | None = None,
    symbols: Mapping[str, str] | None = None,
) -> Equations | ConstrainedEquations:
    """The equations of motion for reading: `print` it, or `.latex()`, `.markdown()`, `.sympy()`, `.c(path)`.

    `parameters`: "symbols" gives every mass, length and inertia that is not zero a symbol; angles of the description
    stay numbers. "shared" gives equal numbers of one kind one symbol, as for like parts. "numbers" puts the numbers
    in. `form`: "closed" gives each entry in one piece, "terms" a list of short named terms, "auto" the latter where it
    is much shorter, where an entry has more than `limit` terms in between or the closed form is not finished after so
    many `seconds`. Springs, dampers and dry friction are in `d`
    unless `passive` is False. Ctrl-C ends the work on the closed form and returns what is finished, see `status`.

    With `solver`, or for a `System`, the equations are those under constraints, M q̈ = F + Aᵀλ and A q̈ = b, and what
    the solver makes of them: "rosenberg-extended" (the accelerations), "rosenberg" (the reduced equations), "maggi"
    (the independent accelerations alone), "udwadia-kalaba", or "multipliers" (the equations as they are). `dependent`
    names the coordinates that the rows determine, one for each row.

    `symbols` are the reader's own: {"m_1": "M", "q_1": "phi"} writes M for m1, φ for q1 and φ̇ for its rate.
    """
    _check(mechanism, seconds, limit, passive, parameters=parameters, form=form)
    if passive:
        _refuse_springs(mechanism)
    dependent = _names(dependent, has_solver=solver is not None or isinstance(mechanism, System))
    _check_symbols(mechanism.name, symbols)
    if solver is not None or isinstance(mechanism, System):
        printed = _constrained(mechanism, parameters, form, limit, seconds, passive, solver, dependent)
        return replace(printed, sheet=renamed(printed.sheet, symbols or {}))
    paper = Paper(mechanism.model, parameters, passive=passive, symbols=symbols)
    report = Report(f"equations of {mechanism.name}")
    try:
        of_tree = (
            _by_terms(paper, "as asked", report)
            if form == "terms"
            else _shorter(paper, form, limit, seconds, report)
        )
    finally:
        report.end()
    return replace(of_tree, energy=partial(_energy, paper, of_tree.form))


def _energy(paper: Paper, form: str, what: str) -> PrintedEnergy:
    """T or V, in one piece where the equations are."""
    report = Report(f"energy of {paper.model.name}")
    try:
        if form == "closed":
            return paper.energy(what, form, ClosedForm(paper, None, report).energy(what))
        program = recorded(paper.model, paper.constants, ENERGIES[what])
        in_groups = groups(paper.model, tuple(paper.q))
        return paper.energy(what, form, write_terms(program, paper.alphabet, in_groups, report))
    finally:
        report.end()


def _check_symbols(owner: str, symbols: Any) -> None:
    if symbols is not None and not isinstance(symbols, Mapping):
        raise InputError(f"{owner}: symbols is {symbols!r}; give names with names, {{'m_1': 'M'}}")


def _refuse_springs(mechanism: Mechanism | System) -> None:
    """Springs between points are not printed."""
    if names := [repr(spring.name) for spring in mechanism.model.springs]:
        raise InputError(
            f"{mechanism.name}: springs between points are not printed ({listed(names)}); passive=False "
            "(--no-passive) leaves them out"
        )


def _constrained(
    mechanism: Mechanism | System,
    parameters: Parameters,
    form: Form,
    limit: int,
    seconds: float,
    passive: bool,
    solver: str | None,
    dependent: str | Sequence[str] | None,
) -> ConstrainedEquations:
    subject = subject_of(mechanism, parameters, passive=passive)
    report = Report(f"equations of {mechanism.name}")
    most = None if form == "closed" else limit
    work = Constrained(subject, solver or "rosenberg-extended", dependent, most, report)
    try:
        if form == "terms":
            return work.by_terms("as asked")
        return _preferred(mechanism.name, form, seconds, work.closed, work.by_terms, report, OF_CONSTRAINED)
    finally:
        report.end()


def _check(mechanism: Any, seconds: Any, limit: Any, passive: Any, **chosen: Any) -> None:
    if not isinstance(mechanism, Mechanism | System):
        raise InputError(
            f"equations takes a Mechanism or System, not {type(mechanism).__name__}; load() reads files, example() "
            "names"
        )
    for what, value in chosen.items():
        if value not in CHOICES[what]:
            raise InputError(f"{what}={value!r}; give one of {', '.join(CHOICES[what])}", **{what: value})
    if not _is_number(seconds, (int, float, np.integer, np.floating)) or not seconds >= 0:
        raise InputError(f"seconds is {seconds!r}; it is a number, 0 or more", seconds=seconds)
    if not _is_number(limit, (int, np.integer)) or limit < 1:
        raise InputError(f"limit is {limit!r}; it is a whole number, 1 or more", limit=limit)
    if not isinstance(passive, bool | np.bool_):
        raise InputError(f"passive is {passive!r}; give True or False", passive=passive)


def _is_number(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _names(dependent: Any, *, has_solver: bool) -> tuple[str, ...] | None:
    """Names of dependent coordinates, one alone among them."""
    if dependent is None:
        return None
    if not has_solver:
        raise InputError(
            f"dependent={dependent!r} is for equations under constraints; give a solver, such as 'rosenberg'",
            dependent=dependent,
        )
    names = (dependent,) if isinstance(dependent, str) else dependent
    if not isinstance(names, Sequence) or not all(isinstance(x, str) for x in names):
        raise InputError(f"dependent is {dependent!r}; give names of coordinates", dependent=dependent)
    return tuple(names)


def _shorter(paper: Paper, form: Form, limit: int, seconds: float, report: Report) -> Equations:
    """The closed form, or named terms where it is longer, too long or does not exist."""

    def closed() -> Equations:
        if not rates_are_derivatives(paper.model):
            raise ClosedFormError(BODY_RATES)
        return ClosedForm(paper, None if form == "closed" else limit, report).equations()

    def by_terms(reason: str) -> Equations:
        return _by_terms(paper, reason, report)

    return _preferred(paper.model.name, form, seconds, closed, by_terms, report, OF_TREES)


def _preferred(
    name: str,
    form: Form,
    seconds: float,
    in_one_piece: Callable[[], E],
    by_terms: Callable[[str], E],
    report: Report,
    short: int,
) -> E:
    """The closed form if it is asked for, or if it exists and is short or not much longer than the other."""
    always = form == "closed"
    try:
        with report.within(inf if always else seconds):
            closed = in_one_piece()
    except ClosedFormError as problem:
        reason = f"{report.so_far}: {problem}" if report.so_far else str(problem)
        if always:
            raise InputError(
                f"{name} has no closed form ({reason}); form='terms' has none of its limits"
            ) from None
        return by_terms(reason)
    if always or closed.stopped or closed.terms <= short:
        return closed
    other = by_terms(f"in one piece the entries have {closed.terms} terms")
    return other if other.terms < WORTH * closed.terms else closed


def _by_terms(paper: Paper, reason: str, report: Report) -> Equations:
    report.begin("recording")
    wanted = christoffel_matrices if has_christoffel(paper.model) else matrices
    program = recorded(paper.model, paper.constants, wanted)
    report.begin("naming terms")
    return paper.equations(
        "terms",
        write_terms(program, paper.alphabet, groups(paper.model, tuple(paper.q)), report),
        f"in named terms ({reason})",
    )
