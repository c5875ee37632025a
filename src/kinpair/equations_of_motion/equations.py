"""`equations(mechanism)`: H q̈ + C q̇ + g + d = τ with letters, for reading."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from kinpair.closed_form.reading import LIMIT, LONG_SHEET, write_terms
from kinpair.equations_of_motion.closed import ClosedForm
from kinpair.equations_of_motion.paper import Paper
from kinpair.equations_of_motion.printed import Equations
from kinpair.equations_of_motion.recording import matrices, rates_are_derivatives, recorded
from kinpair.equations_of_motion.reporting import Report
from kinpair.errors import ClosedFormError, InputError
from kinpair.mechanism import Mechanism

Parameters: TypeAlias = Literal["symbols", "numbers"]
Form: TypeAlias = Literal["auto", "closed", "terms"]
CHOICES: dict[str, tuple[str, ...]] = {
    "parameters": ("symbols", "numbers"),
    "form": ("auto", "closed", "terms"),
}
BODY_RATES = "q̇ is not the derivative of q where there are quaternions: the equations are in body rates"


def equations(
    mechanism: Mechanism,
    parameters: Parameters = "symbols",
    *,
    form: Form = "auto",
    limit: int = LIMIT,
    passive: bool = True,
) -> Equations:
    """The equations of motion for reading: `print` it, or `.latex()`, `.markdown()`, `.sympy()`, `.c(path)`.

    `parameters`: "symbols" gives every mass, length and inertia that is not zero a letter; angles of the description
    stay numbers. "numbers" puts the numbers in. `form`: "closed" gives each entry in one piece, "terms" a list of
    short named terms, "auto" the shorter of the two, the latter where an entry has more than `limit` terms on the
    way. Springs, dampers and dry friction are in `d` unless `passive` is False. Ctrl-C ends the work on the closed
    form and returns what is finished, see `status`.
    """
    _check(parameters=parameters, form=form)
    paper = Paper(mechanism.model, symbolic=parameters == "symbols", passive=passive)
    report = Report(f"equations of {mechanism.name}")
    try:
        return (
            _by_terms(paper, "as asked", report) if form == "terms" else _shorter(paper, form, limit, report)
        )
    finally:
        report.end()


def _check(**given: Any) -> None:
    for what, value in given.items():
        if value not in CHOICES[what]:
            raise InputError(f"{what}={value!r}; give one of {', '.join(CHOICES[what])}", **{what: value})


def _shorter(paper: Paper, form: Form, limit: int, report: Report) -> Equations:
    """The closed form, or named terms where it is longer, too long or does not exist."""
    always = form == "closed"
    try:
        if not rates_are_derivatives(paper.model):
            raise ClosedFormError(BODY_RATES)
        closed = ClosedForm(paper, None if always else limit, report).equations()
    except ClosedFormError as found:
        reason = f"{report.so_far}: {found}" if report.so_far else str(found)
        if always:
            raise InputError(
                f"{paper.model.name} has no closed form ({reason}); form='terms' has none of its limits"
            ) from None
        return _by_terms(paper, reason, report)
    if always or not closed.complete or closed.terms <= LONG_SHEET:
        return closed
    other = _by_terms(paper, f"in one piece the entries have {closed.terms} terms", report)
    return other if other.terms < closed.terms else closed


def _by_terms(paper: Paper, reason: str, report: Report) -> Equations:
    report.begin("recording")
    program = recorded(paper.model, paper.constants, matrices)
    report.begin("naming terms")
    return paper.equations(
        "terms", write_terms(program, paper.alphabet, report), f"in named terms ({reason})"
    )
