"""Equations of mechanisms and systems under constraints: M, F, A, b, and what a solver makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinpair.algebra.lu import pivot_order
from kinpair.compiler.patience import Report
from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.rounding import RANK
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solvers import SOLVERS, Problem
from kinpair.constraints.solvers.embedding import rosenberg
from kinpair.constraints.solvers.problem import full
from kinpair.constraints.solvers.rank_revealing import lengths
from kinpair.errors import ClosedFormError, InputError, listed, nearest
from kinpair.printed_equations.closed_form.folding import Denominators, Phases
from kinpair.printed_equations.closed_form.formula import ZERO, Formula, Number, Product, Sum, atoms, symbols
from kinpair.printed_equations.closed_form.matrices import Matrices, Square, tidy
from kinpair.printed_equations.closed_form.polynomial import Expansion, Polynomial, number
from kinpair.printed_equations.closed_form.reading import Written, write_closed, write_terms
from kinpair.printed_equations.closed_form.sheet import Sheet
from kinpair.printed_equations.printed import ConstrainedEquations, Entries
from kinpair.printed_equations.solver_forms import (
    AS_MAGGI,
    BASIS,
    EMBEDDING,
    PRINTED,
    STEPS,
    Partition,
    Work,
    WrittenRatios,
)
from kinpair.printed_equations.subject import Subject, passive_efforts

FEW = 120  # ways to choose the dependent coordinates that are all tried
PROBES = 3
STEADY = 1e-9  # beside the determinant: what of it is rounding
ByName = dict[str, list[Polynomial]]
WHOLE = "every entry in one piece"
NOTHING = ("", "")
T = TypeVar("T")
LONG_BASE = 400  # terms of M, F, A and b in all from which on they are named terms too
PATIENCE = 2.0  # seconds for these, where the closed form was not tried
AFTER_STOP = 0.3  # seconds for short forms once the user has stopped the work
SHORT = 200  # terms of an entry that is made short then
BASE: dict[str, list[Formula]] = {"M": [], "F": [], "A": [], "b": []}  # of every solver


class Dependent:
    """The rows that are kept, and the coordinates they determine: those wanted, or chosen."""

    def __init__(
        self, subject: Subject, closure: Closure, wanted: Sequence[str] | None, algebra: Matrices
    ) -> None:
        self.subject, self._closure, self._wanted, self._algebra = subject, closure, wanted, algebra
        A = closure.matrix(subject.start, 0.0)
        self.kept = independent_rows(A) if len(A) else ()
        self.rows = A[list(self.kept)]

    @property
    def scaled(self) -> np.ndarray:
        """The rows with length one."""
        return self.rows / lengths(self.rows)[:, None]

    def parted(self, A: Square | None) -> Partition:
        """Dependent and independent rates; A in normal forms, where these are known, for rows never singular."""
        n, l = self.subject.model.nv, len(self.kept)
        one = self._stated() if self._wanted is not None else self._chosen(A)
        if len(one) != l:
            raise InputError(
                f"{self.subject.model.name}: {l} rows make {l} coordinates dependent; dependent={self._wanted!r} "
                f"are {len(one)}"
            )
        return Partition(self.kept, one, tuple(k for k in range(n) if k not in one))

    def _stated(self) -> tuple[int, ...]:
        names, numbers = self.subject.model.v_names, list[int]()
        for name in self._wanted or ():
            if name not in names:
                raise InputError(
                    f"{self.subject.model.name}: no coordinate {name!r} to be dependent; {nearest(name, names)}"
                    f"Coordinates: {listed(names)}"
                )
            numbers.append(names.index(name))
        if len(numbers) == len(self.kept) and len(pivot_order(self.scaled[:, numbers], RANK)[0]) < len(
            numbers
        ):
            raise InputError(
                f"{self.subject.model.name}: the rows do not determine {listed(self._wanted or ())}; choose others"
            )
        return tuple(sorted(numbers))

    def _chosen(self, A: Square | None) -> tuple[int, ...]:
        """Choose coordinates whose rows never get singular, having one constant term as determinant; else by
        pivoting."""
        n, l = self.subject.model.nv, len(self.kept)
        if A is not None and comb(n, l) <= FEW:
            for one in filter(self._steady, combinations(range(n), l)):
                if self._never_singular([[row[k] for k in one] for row in A]):
                    return one
        return tuple(sorted(pivot_order(self.scaled if l else self.rows, RANK)[1]))

    def _steady(self, one: tuple[int, ...]) -> bool:
        """True if the determinant of these columns is constant over a few positions. Quick, and rules most choices
        out."""
        determinants = [np.linalg.det(A[:, one]) for A in self._probes]
        return bool(
            min(map(abs, determinants)) > 0.0 and np.ptp(determinants) <= STEADY * max(map(abs, determinants))
        )

    @cached_property
    def _probes(self) -> list[np.ndarray]:
        """The rows in a few positions."""
        start = self.subject.start
        some = [start + 0.3 * np.cos((k + 1) * np.arange(1, len(start) + 1)) for k in range(PROBES)]
        with np.errstate(all="ignore"):
            return [self._closure.matrix(q, 0.0)[list(self.kept)] for q in some]

    def _never_singular(self, A1: Square) -> bool:
        try:
            det = self._algebra.determinant(A1)
        except ClosedFormError:
            return False
        variables = {name for names in self.subject.variables.values() for name in names}
        return len(det) == 1 and all(
            not waves and not variables & {name for name, _ in powers} for powers, waves in det.terms
        )


class Base(NamedTuple):
    """Entries of M, F, A and b, row by row, and the phases met in them."""

    entries: ByName
    phases: set[float]


class Constrained:
    """Equations of one subject by one solver."""

    def __init__(
        self,
        subject: Subject,
        solver: str,
        dependent: Sequence[str] | None,
        limit: int | None,
        report: Report,
    ) -> None:
        if solver in AS_MAGGI:
            raise InputError(
                f"solver={solver!r} has no sheet of its own: for u = q̇_i its equations are those of 'maggi'; "
                "ask for that",
                solver=solver,
            )
        if solver not in PRINTED:
            raise InputError(
                f"solver={solver!r} has no printed form; {nearest(solver, PRINTED)}Solvers: {listed(PRINTED)}",
                solver=solver,
            )
        self.subject, self.solver, self._report = subject, solver, report
        self._algebra = Matrices(limit, report)
        self._base: Base | None = None
        self._parted: Partition | None = None
        self._forms: dict[str, Sequence[Polynomial | None]] = {}
        self._named: list[tuple[str, Polynomial]] = []
        self._closure = subject.closure()
        self._dependent = Dependent(subject, self._closure, dependent, self._algebra)
        self.kept = self._dependent.kept

    # In closed form.

    def closed(self) -> ConstrainedEquations:
        """Each entry in one piece; what is finished when the user stops the work."""
        try:
            chosen, statement = self._work()
        except KeyboardInterrupt:
            return self._stopped(f"stopped at {self._report.so_far}")
        self._report.begin("looking for short forms")
        written = self._written(stops=(KeyboardInterrupt,))
        if not written.at_length:
            return self._equations("closed", written, chosen, statement, WHOLE)
        status = f"{WHOLE}, some at length: stopped at {self._report.so_far}"
        return self._equations("closed", written, chosen, statement, status, stopped=True)

    def _stopped(self, status: str) -> ConstrainedEquations:
        with self._report.within(AFTER_STOP):
            written = self._written(stops=(KeyboardInterrupt, ClosedFormError), longest=SHORT)
        chosen = self._parted or self._partition(None)
        return self._equations("closed", written, chosen, NOTHING, status, complete=False, stopped=True)

    def _written(self, **options: Any) -> Written:
        return self._with_passive(
            write_closed(self._forms, self._named, self.subject.alphabet, self._report, **options)
        )

    def _work(self) -> tuple[Partition, tuple[str, str]]:
        """All entries in normal form, and what they are for."""
        base = self._base = self._expanded()
        n = self.subject.model.nv
        self._report.begin("choosing the dependent coordinates")
        chosen = self._parted = self._partition(base)
        M, A = _square(base.entries["M"], n), _square(base.entries["A"], n)
        phases, names = Phases(base.phases), Denominators(self._algebra)
        ratios = WrittenRatios(names, phases)
        self._report.begin(self.solver)
        statement = PRINTED[self.solver](Work(M, A, chosen, self._algebra, names, ratios))
        named = ratios.named()
        plain = {what: [phases.of(x) for x in entries] for what, entries in base.entries.items()}
        constants = [(name, number(value)) for name, value in phases.values.items()]
        self._forms, self._named = {**plain, **ratios.forms}, [*constants, *named]
        return chosen, statement

    def _partition(self, base: Base | None) -> Partition:
        if base is None or self.solver not in EMBEDDING or not self.kept:
            return self._dependent.parted(None)
        return self._dependent.parted(_square(base.entries["A"], self.subject.model.nv))

    def _expanded(self) -> Base:
        """M, F, A and b, without springs, dampers and friction."""
        self._report.begin("recording")
        program = self.subject.recorded(self.kept, passive=False)
        expansion = Expansion(self.subject.groups(program), self._algebra.limit, self._report)
        results: ByName = {}
        for leaf in program.outputs:
            n = len(leaf.entries)
            entries: list[Polynomial | None] = [None] * n
            self._forms[leaf.name] = entries
            for k in reversed(range(n)):  # from the tip of the tree: easy entries first
                self._report.begin(f"{leaf.name}, entry {k + 1} of {n}")
                entries[k] = tidy(expansion.of(leaf.entries[k]))
            results[leaf.name] = [x for x in entries if x is not None]
        return Base(results, expansion.phases | self.subject.directions)

    def _with_passive(self, x: Written) -> Written:
        """F less springs, dampers and dry friction."""
        if not self.subject.passive:
            return x
        names = self.subject.variables
        d = passive_efforts(self.subject.model, self.subject.passive_values(), names["q"], names["qd"])
        F = [
            None if f is None else _less(f, pull) for f, pull in zip(x.results.get("F", []), d, strict=False)
        ]
        return x._replace(results={**x.results, "F": F})

    # By named terms.

    def by_terms(self, reason: str) -> ConstrainedEquations:
        """A list of short named terms, the solver's own steps among them; made of the entries of M, F, A and b where
        these have a closed form."""
        status = f"in named terms ({reason})"
        base = self._base or self._base_in_time()
        if base is not None and sum(len(x) for entries in base.entries.values() for x in entries) < LONG_BASE:
            return self._by_steps(base, status)
        chosen = self._partition(None)
        self._report.begin("recording")
        passive = bool(self.subject.passive)
        program = self.subject.recorded(self.kept, passive=passive, more=self._solved(chosen))
        self._report.begin("naming terms")
        angles = self.subject.groups(program)
        written = write_terms(program, self.subject.alphabet, angles, self._report)
        statement = STEPS[self.solver]
        return self._equations("terms", written, chosen, statement, status)

    def _base_in_time(self) -> Base | None:
        """M, F, A and b, unless that was tried before and failed."""
        return None if self._forms else self._in_time(self._expanded)

    def _in_time(self, work: Callable[[], T]) -> T | None:
        try:
            with self._report.within(PATIENCE):
                return work()
        except ClosedFormError:
            return None

    def _by_steps(self, base: Base, status: str) -> ConstrainedEquations:
        """M, F, A and b in closed form, and the solver's steps in terms of their entries."""
        chosen = self._parted or self._in_time(lambda: self._partition(base))
        chosen = chosen or self._partition(None)
        phases, n = Phases(base.phases), self.subject.model.nv
        plain = {what: [phases.of(x) for x in entries] for what, entries in base.entries.items()}
        constants = [(name, number(value)) for name, value in phases.values.items()]
        self._report.begin("looking for short forms")
        first = self._with_passive(write_closed(plain, constants, self.subject.alphabet, self._report))
        whole = {what: [x for x in row if x is not None] for what, row in first.results.items()}
        entries = Entries(whole, {"M": (n, n), "F": (n,), "A": (len(self.kept), n), "b": (len(self.kept),)})
        self._report.begin("naming terms")
        program = entries.recorded(self.subject.model.name, self._solved(chosen))
        then = write_terms(program, self.subject.alphabet, {}, self._report)
        definitions = [*first.definitions, *entries.definitions, *then.definitions]
        written = Written(definitions, {**first.results, **then.results}, first.alphabet)
        used = symbols(set().union(*map(atoms, written.formulas)))
        written = written._replace(alphabet=self.subject.alphabet(used))
        return self._equations("terms", written, chosen, STEPS[self.solver], status)

    def _solved(self, chosen: Partition) -> Callable[..., dict[str, Any]]:
        rows, columns = (
            pivot_order(self._dependent.scaled[:, list(chosen.one)], RANK) if chosen.one else ([], [])
        )
        one = tuple(chosen.one[k] for k in columns)

        def more(M: Any, F: Any, A: Any, b: Any) -> dict[str, Any]:
            x = Problem(M, F, A, b, *full(len(F)), tuple(rows), one)
            if self.solver == "rosenberg":
                return dict(zip(("E", "f"), rosenberg(x), strict=True))
            return {"qdd": SOLVERS[self.solver](x).qdd}

        return more

    # On the sheet.

    def _equations(
        self,
        form: str,
        x: Written,
        chosen: Partition,
        statement: tuple[str, str],
        status: str,
        *,
        complete: bool = True,
        stopped: bool = False,
    ) -> ConstrainedEquations:
        model, n, l = self.subject.model, self.subject.model.nv, len(self.kept)
        free = n - l
        shapes = {
            "M": (n, n),
            "F": (n,),
            "A": (l, n),
            "b": (l,),
            "qdd": (n,),
            "Z": (n, free),
            "E": (free, n),
            "f": (free,),
            "R1": (l, n),
            "R2": (l, l),
            "R3": (free, n),
            "R4": (free, l),
            "X": (free, free),
            "W": (n, l),
            "G": (n, n),
            "S": (l, l),
            "D1": (),
            "D2": (),
        }
        arrays = {what: x.array(what, shapes[what]) for what in {**BASE, **x.results}}
        rows = tuple(self._closure.row_names[k] for k in chosen.kept)
        left_out = [name for k, name in enumerate(self._closure.row_names) if k not in chosen.kept]
        sets = [tuple(model.v_names[k] for k in part) for part in (chosen.one, chosen.two)]
        notes = [f"Rows of A: {', '.join(rows)}."] if rows else ["There are no constraints."]
        notes += [f"Left out, since the others imply them: {', '.join(left_out)}."] if left_out else []
        notes += (
            [f"q_d, dependent: {', '.join(sets[0])}; q_i, independent: {', '.join(sets[1])}."] if rows else []
        )
        notes += [f"{status[0].upper()}{status[1:]}."] if status != WHOLE else []
        names = _used(self.subject.variables, x)
        sheet = Sheet(
            model.name,
            names,
            x.alphabet,
            x.definitions,
            arrays,
            tuple(f"{a}{b}" for a, b in zip(BASIS, statement, strict=True)),  # type: ignore[arg-type]
            frozenset({"M", "G", "S", "X"}),
            tuple(notes),
        )
        return ConstrainedEquations(
            sheet, form, status, complete, stopped, self.solver, model.v_names, rows, *sets
        )


def _square(entries: Sequence[Polynomial], n: int) -> Square:
    return [list(entries[k : k + n]) for k in range(0, len(entries), n)]


def _less(f: Formula, pull: Formula) -> Formula:
    """f − pull."""
    if pull == ZERO:
        return f
    back = Product((Number(-1.0), pull))
    return back if f == ZERO else Sum((*(f.terms if isinstance(f, Sum) else (f,)), back))


def _used(variables: Mapping[str, list[str]], x: Written) -> dict[str, list[str]]:
    """The variables, without time where nothing depends on it."""
    inside = symbols(set().union(*map(atoms, x.formulas)))
    return {what: names for what, names in variables.items() if what != "time" or inside & {*names}}
