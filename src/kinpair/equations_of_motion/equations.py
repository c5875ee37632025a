"""`equations(mechanism)`: H q̈ + C q̇ + g + d = τ with letters, for reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Literal, TypeAlias, TypeVar, overload

from kinpair.closed_form.reading import LIMIT, LONG_SHEET, write_terms
from kinpair.equations_of_motion.closed import ClosedForm
from kinpair.equations_of_motion.constrained import Constrained
from kinpair.equations_of_motion.constrained_printed import ConstrainedEquations
from kinpair.equations_of_motion.on_a_sheet import OnASheet
from kinpair.equations_of_motion.paper import Paper
from kinpair.equations_of_motion.printed import Equations
from kinpair.equations_of_motion.recording import matrices, rates_are_derivatives, recorded
from kinpair.equations_of_motion.reporting import Report
from kinpair.equations_of_motion.subject import subject_of
from kinpair.errors import ClosedFormError, InputError
from kinpair.mechanism import Mechanism
from kinpair.system import System

Parameters: TypeAlias = Literal["symbols", "numbers"]
E = TypeVar("E", bound=OnASheet)
Form: TypeAlias = Literal["auto", "closed", "terms"]
CHOICES: dict[str, tuple[str, ...]] = {
    "parameters": ("symbols", "numbers"),
    "form": ("auto", "closed", "terms"),
}
SECONDS = 4.0  # for the closed form, where named terms will do
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
    dependent: Sequence[str] | None = None,
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
    dependent: Sequence[str] | None = None,
) -> Equations | ConstrainedEquations: ...


def equations(
    mechanism: Mechanism | System,
    parameters: Parameters = "symbols",
    *,
    form: Form = "auto",
    limit: int = LIMIT,
    seconds: float = SECONDS,
    passive: bool = True,
    solver: str | None = None,
    dependent: Sequence[str] | None = None,
) -> Equations | ConstrainedEquations:
    """The equations of motion for reading: `print` it, or `.latex()`, `.markdown()`, `.sympy()`, `.c(path)`.

    `parameters`: "symbols" gives every mass, length and inertia that is not zero a letter; angles of the description
    stay numbers. "numbers" puts the numbers in. `form`: "closed" gives each entry in one piece, "terms" a list of
    short named terms, "auto" the shorter of the two, the latter where an entry has more than `limit` terms on the
    way or the closed form is not finished after so many `seconds`. Springs, dampers and dry friction are in `d`
    unless `passive` is False. Ctrl-C ends the work on the closed form and returns what is finished, see `status`.

    With `solver`, or for a `System`, the equations are those under constraints, M q̈ = F + Aᵀλ and A q̈ = b, and what
    the solver makes of them: "rosenberg-extended" (the accelerations), "rosenberg" (the reduced equations),
    "udwadia-kalaba", or "multipliers" (the equations as they are). `dependent` names the coordinates that the rows
    determine, one for each row.
    """
    _check(parameters=parameters, form=form)
    if solver is not None or isinstance(mechanism, System):
        return _constrained(mechanism, parameters, form, limit, seconds, passive, solver, dependent)
    paper = Paper(mechanism.model, symbolic=parameters == "symbols", passive=passive)
    report = Report(f"equations of {mechanism.name}")
    try:
        return (
            _by_terms(paper, "as asked", report)
            if form == "terms"
            else _shorter(paper, form, limit, seconds, report)
        )
    finally:
        report.end()


def _constrained(
    given: Mechanism | System,
    parameters: Parameters,
    form: Form,
    limit: int,
    seconds: float,
    passive: bool,
    solver: str | None,
    dependent: Sequence[str] | None,
) -> ConstrainedEquations:
    subject = subject_of(given, symbolic=parameters == "symbols", passive=passive)
    report = Report(f"equations of {given.name}")
    most = None if form == "closed" else limit
    work = Constrained(subject, solver or "rosenberg-extended", dependent, most, report)
    try:
        if form == "terms":
            return work.by_terms("as asked")
        return _preferred(given.name, form, seconds, work.closed, work.by_terms, report)
    finally:
        report.end()


def _check(**given: Any) -> None:
    for what, value in given.items():
        if value not in CHOICES[what]:
            raise InputError(f"{what}={value!r}; give one of {', '.join(CHOICES[what])}", **{what: value})


def _shorter(paper: Paper, form: Form, limit: int, seconds: float, report: Report) -> Equations:
    """The closed form, or named terms where it is longer, too long or does not exist."""

    def closed() -> Equations:
        if not rates_are_derivatives(paper.model):
            raise ClosedFormError(BODY_RATES)
        return ClosedForm(paper, None if form == "closed" else limit, report).equations()

    def by_terms(reason: str) -> Equations:
        return _by_terms(paper, reason, report)

    return _preferred(paper.model.name, form, seconds, closed, by_terms, report)


def _preferred(
    name: str,
    form: Form,
    seconds: float,
    in_one_piece: Callable[[], E],
    by_terms: Callable[[str], E],
    report: Report,
) -> E:
    """The closed form if it is asked for, or if it exists and is the shorter one."""
    always = form == "closed"
    try:
        with report.within(inf if always else seconds):
            closed = in_one_piece()
    except ClosedFormError as found:
        reason = f"{report.so_far}: {found}" if report.so_far else str(found)
        if always:
            raise InputError(
                f"{name} has no closed form ({reason}); form='terms' has none of its limits"
            ) from None
        return by_terms(reason)
    if always or not closed.complete or closed.terms <= LONG_SHEET:
        return closed
    other = by_terms(f"in one piece the entries have {closed.terms} terms")
    return other if other.terms < closed.terms else closed


def _by_terms(paper: Paper, reason: str, report: Report) -> Equations:
    report.begin("recording")
    program = recorded(paper.model, paper.constants, matrices)
    report.begin("naming terms")
    return paper.equations(
        "terms", write_terms(program, paper.alphabet, report), f"in named terms ({reason})"
    )
