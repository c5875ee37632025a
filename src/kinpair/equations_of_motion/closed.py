"""H, C and g in closed form, each entry in one piece."""

from __future__ import annotations

from kinpair.closed_form.expansion import Expansion
from kinpair.closed_form.polynomial import Polynomial
from kinpair.closed_form.reading import write_closed, write_plain
from kinpair.compiler.program import Leaf
from kinpair.equations_of_motion.christoffel import christoffel, coriolis, named_repeated
from kinpair.equations_of_motion.paper import WHOLE, Paper
from kinpair.equations_of_motion.parallel import groups
from kinpair.equations_of_motion.printed import Equations
from kinpair.equations_of_motion.recording import energies, recorded
from kinpair.equations_of_motion.reporting import Report


class ClosedForm:
    """Normal forms as they are found, so that those found can be had when the work is stopped."""

    def __init__(self, paper: Paper, limit: int | None, report: Report) -> None:
        self._paper = paper
        self._report = report
        self._expansion = Expansion(groups(paper.model, tuple(paper.q)), limit, report)
        self._found: dict[str, list[Polynomial]] = {}
        self._named: list[tuple[str, Polynomial]] = []

    def equations(self) -> Equations:
        """All of them, or those that are finished when the user stops the work."""
        status, complete = WHOLE, True
        try:
            self._work()
        except KeyboardInterrupt:
            status, complete = f"stopped at {self._report.so_far}", False
        return self._written(status, complete)

    def _written(self, status: str, complete: bool) -> Equations:
        """What was found, in short; or as it stands if the user cannot wait for that either."""
        found, named, spelling = self._found, self._named, self._paper.alphabet
        self._report.begin("looking for short forms")
        try:
            written = write_closed(found, named, spelling, self._report)
        except KeyboardInterrupt:
            status = f"stopped at {self._report.so_far}" if complete else status
            written, complete = write_plain(found, named, spelling), False
        return self._paper.equations("closed", written, status, complete)

    def _work(self) -> None:
        n, q = self._paper.model.nv, self._paper.q
        self._report.begin("recording")
        mass, potential = recorded(self._paper.model, self._paper.constants, energies).outputs
        H = self._masses(mass)
        self._report.begin("g")
        V = self._expansion.of(potential.entries[0])
        V = V.cleaned(V.size)
        self._found["g"] = [V.derivative(name) for name in q]
        self._report.begin("C")
        c = christoffel([H[n * i : n * (i + 1)] for i in range(n)], q, self._report)
        self._named, c = named_repeated(c)
        self._found["C"] = [x for row in coriolis(c, self._paper.qd) for x in row]

    def _masses(self, H: Leaf) -> list[Polynomial]:
        """H, row by row."""
        n, found = self._paper.model.nv, self._found.setdefault("H", [])
        for k, x in enumerate(H.entries):
            i, j = divmod(k, n)
            self._report.begin(f"H{i + 1},{j + 1} of {n},{n}")
            found.append(found[n * j + i] if j < i else self._expansion.of(x))
        size = max((x.size for x in found), default=0.0)
        self._found["H"] = [x.cleaned(size) for x in found]
        return self._found["H"]
