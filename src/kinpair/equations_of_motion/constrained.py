"""Equations of mechanisms and systems under constraints: M, F, A, b, and what a solver makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

from kinpair.algebra.lu import pivot_order
from kinpair.closed_form.expansion import Expansion
from kinpair.closed_form.formula import ZERO, Formula, Number, Product, Sum, atoms
from kinpair.closed_form.letters import symbols
from kinpair.closed_form.matrices import Matrices, Square, tidy
from kinpair.closed_form.phases import Phases
from kinpair.closed_form.polynomial import Polynomial, number
from kinpair.closed_form.ratios import Denominators
from kinpair.closed_form.reading import Written, write_closed, write_plain, write_terms
from kinpair.closed_form.sheet import Sheet
from kinpair.constraints.mobility import independent_rows
from kinpair.constraints.rank_revealing import RANK, lengths
from kinpair.constraints.solvers import SOLVERS, Problem
from kinpair.constraints.solvers.embedding import rosenberg
from kinpair.constraints.solvers.problem import full
from kinpair.equations_of_motion.constrained_printed import ConstrainedEquations
from kinpair.equations_of_motion.passive import passive_efforts
from kinpair.equations_of_motion.ratios_written import Ratios
from kinpair.equations_of_motion.reporting import Report
from kinpair.equations_of_motion.solver_forms import BASIS, EMBEDDING, PRINTED, STEPS, Partition, Work
from kinpair.equations_of_motion.subject import Subject
from kinpair.errors import ClosedFormError, InputError, listed, nearest

Found = dict[str, list[Polynomial]]
FEW = 120  # ways to choose the dependent coordinates that are all tried
WHOLE = "every entry in one piece"
NOTHING = ("", "")
BASE: dict[str, list[Formula]] = {"M": [], "F": [], "A": [], "b": []}  # of every solver


class Constrained:
    """One subject, one solver."""

    def __init__(
        self,
        subject: Subject,
        solver: str,
        dependent: Sequence[str] | None,
        limit: int | None,
        report: Report,
    ) -> None:
        if solver not in PRINTED:
            raise InputError(
                f"solver={solver!r} has no printed form; {nearest(solver, PRINTED)}Solvers: {listed(PRINTED)}",
                solver=solver,
            )
        self.subject, self.solver, self._report = subject, solver, report
        self._algebra, self._wanted = Matrices(limit, report), dependent
        self._found: Found = {}
        self._named: list[tuple[str, Polynomial]] = []
        self._closure = subject.closure()
        A = self._closure.matrix(subject.start, 0.0)
        self.kept = independent_rows(A) if len(A) else ()
        self._rows = A[list(self.kept)]

    # In closed form.

    def closed(self) -> ConstrainedEquations:
        """Each entry in one piece; what is finished when the user stops the work."""
        try:
            return self._in_one_piece()
        except KeyboardInterrupt:
            written = self._with_passive(write_plain(self._found, self._named, self.subject.alphabet))
            status, chosen = f"stopped at {self._report.so_far}", self._partition(None)
            return self._equations("closed", written, chosen, NOTHING, status, complete=False)

    def _in_one_piece(self) -> ConstrainedEquations:
        self._report.begin("recording")
        program = self.subject.recorded(self.kept, passive=False)
        expansion = Expansion(self.subject.groups(program), self._algebra.limit, self._report)
        for leaf in program.outputs:
            self._report.begin(leaf.name)
            entries = self._found.setdefault(leaf.name, [])
            for x in leaf.entries:
                entries.append(tidy(expansion.of(x)))
        n, l = self.subject.model.nv, len(self.kept)
        M, A = _square(self._found["M"], n), _square(self._found["A"], n) if l else []
        self._report.begin("choosing the dependent coordinates")
        chosen = self._partition(A if self.solver in EMBEDDING else None)
        phases, names = Phases(expansion.phases), Denominators(self._algebra)
        ratios = Ratios(names, phases)
        self._report.begin(self.solver)
        statement = PRINTED[self.solver](Work(M, A, chosen, self._algebra, names, ratios))
        named = ratios.named()
        plain = {what: [phases.of(x) for x in entries] for what, entries in self._found.items()}
        constants = [(name, number(value)) for name, value in phases.values.items()]
        self._found, self._named = plain | ratios.found, [*constants, *named]
        self._report.begin("looking for short forms")
        written = write_closed(self._found, self._named, self.subject.alphabet, self._report)
        return self._equations("closed", self._with_passive(written), chosen, statement, WHOLE)

    def _with_passive(self, x: Written) -> Written:
        """F less springs, dampers and dry friction."""
        if not self.subject.passive:
            return x
        names = self.subject.variables
        d = passive_efforts(self.subject.model, self.subject.passive_values(), names["q"], names["qd"])
        F = [_less(f, pull) for f, pull in zip(x.results.get("F", []), d, strict=False)]
        return x._replace(results=x.results | {"F": F})

    # Which coordinates are dependent.

    def _partition(self, A: Square | None) -> Partition:
        n, l = self.subject.model.nv, len(self.kept)
        one = self._given() if self._wanted is not None else self._chosen(A)
        if len(one) != l:
            raise InputError(
                f"{self.subject.model.name}: {l} rows make {l} coordinates dependent; dependent={self._wanted!r} "
                f"are {len(one)}"
            )
        return Partition(self.kept, one, tuple(k for k in range(n) if k not in one))

    def _given(self) -> tuple[int, ...]:
        names, found = self.subject.model.v_names, list[int]()
        for name in self._wanted or ():
            if name not in names:
                raise InputError(
                    f"{self.subject.model.name}: no coordinate {name!r} to be dependent; {nearest(name, names)}"
                    f"Coordinates: {listed(names)}"
                )
            found.append(names.index(name))
        A1 = self._rows[:, found]
        if len(found) == len(self.kept) and len(
            pivot_order(A1 / lengths(self._rows)[:, None], RANK)[0]
        ) < len(found):
            raise InputError(
                f"{self.subject.model.name}: the rows do not determine {listed(self._wanted or ())}; choose others"
            )
        return tuple(sorted(found))

    def _chosen(self, A: Square | None) -> tuple[int, ...]:
        """Those whose rows never get singular, having one constant term as determinant; else by pivoting."""
        n, l = self.subject.model.nv, len(self.kept)
        if A is not None and comb(n, l) <= FEW:
            for one in combinations(range(n), l):
                if self._never_singular([[row[k] for k in one] for row in A]):
                    return one
        scaled = self._rows / lengths(self._rows)[:, None] if l else self._rows
        return tuple(sorted(pivot_order(scaled, RANK)[1]))

    def _never_singular(self, A1: Square) -> bool:
        try:
            found = self._algebra.determinant(A1)
        except ClosedFormError:
            return False
        variables = {name for names in self.subject.variables.values() for name in names}
        return len(found) == 1 and all(
            not waves and not variables & {name for name, _ in powers} for powers, waves in found.terms
        )

    # By named terms.

    def by_terms(self, reason: str) -> ConstrainedEquations:
        """A list of short named terms, the solver's own steps among them."""
        chosen = self._partition(None)
        self._report.begin("recording")
        passive = bool(self.subject.passive)
        program = self.subject.recorded(self.kept, passive=passive, more=self._solved(chosen))
        self._report.begin("naming terms")
        written = write_terms(program, self.subject.alphabet, self._report)
        statement = STEPS[self.solver]
        return self._equations("terms", written, chosen, statement, f"in named terms ({reason})")

    def _solved(self, chosen: Partition) -> Callable[..., dict[str, Any]]:
        A1 = self._rows[:, list(chosen.one)]
        rows, columns = pivot_order(A1 / lengths(self._rows)[:, None], RANK) if chosen.one else ([], [])
        one = tuple(chosen.one[k] for k in columns)

        def more(model: Any, M: Any, F: Any, A: Any, b: Any, kept: Any) -> dict[str, Any]:
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
        complete: bool = True,
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
            "G": (n, n),
            "S": (l, l),
            "D1": (),
            "D2": (),
        }
        arrays = {what: x.array(what, shapes[what]) for what in (BASE | x.results)}
        rows = tuple(self._closure.row_names[k] for k in chosen.kept)
        left_out = [name for k, name in enumerate(self._closure.row_names) if k not in chosen.kept]
        sets = [tuple(model.v_names[k] for k in part) for part in (chosen.one, chosen.two)]
        notes = ["M is symmetric; entries not shown are zero."]
        notes += [f"Rows of A: {', '.join(rows)}."] if rows else ["There are no constraints."]
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
            frozenset({"M", "G", "S"}),
            tuple(notes),
        )
        return ConstrainedEquations(sheet, form, status, complete, self.solver, model.v_names, rows, *sets)


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
