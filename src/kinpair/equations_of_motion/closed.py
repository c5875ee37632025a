"""H, C and g in closed form, each entry in one piece."""

from __future__ import annotations

from typing import Any

from kinpair.closed_form.folding import Phases
from kinpair.closed_form.matrices import rounded
from kinpair.closed_form.polynomial import Expansion, Polynomial, number
from kinpair.closed_form.reading import Written, write_closed
from kinpair.compiler.program import Leaf
from kinpair.equations_of_motion.christoffel import christoffel, coriolis, named_repeated
from kinpair.equations_of_motion.paper import WHOLE, Paper
from kinpair.equations_of_motion.parallel import groups
from kinpair.equations_of_motion.printed import Equations
from kinpair.equations_of_motion.recording import ENERGIES, energies, recorded
from kinpair.equations_of_motion.reporting import Report
from kinpair.errors import ClosedFormError

AFTER_STOP = 0.3  # seconds for short forms once the user has stopped the work
SHORT = 200  # terms of an entry that is made short then


class ClosedForm:
    """Normal forms as they are found, so that those found can be had when the work is stopped."""

    def __init__(self, paper: Paper, limit: int | None, report: Report) -> None:
        self._paper = paper
        self._report = report
        self._expansion = Expansion(groups(paper.model, tuple(paper.q)), limit, report)
        self._entries: dict[str, list[Polynomial | None]] = {}
        self._named: list[tuple[str, Polynomial]] = []

    def equations(self) -> Equations:
        """All of them, or those that are finished when the user stops the work."""
        try:
            self._work()
        except KeyboardInterrupt:
            return self._stopped(f"stopped at {self._report.so_far}")
        self._report.begin("looking for short forms")
        written = self._written(stops=(KeyboardInterrupt,))
        if not written.at_length:
            return self._paper.equations("closed", written, WHOLE)
        status = f"{WHOLE}, some at length: stopped at {self._report.so_far}"
        return self._paper.equations("closed", written, status, stopped=True)

    def energy(self, what: str) -> Written:
        """T or V in one piece."""
        (energy,) = recorded(self._paper.model, self._paper.constants, ENERGIES[what]).outputs
        found = self._expansion.of(energy.entries[0])
        self._entries[what] = [rounded(found.cleaned(found.size))]
        self._join_waves()
        return self._written()

    def _stopped(self, status: str) -> Equations:
        """What was found, in short as far as that is quick."""
        with self._report.within(AFTER_STOP):
            written = self._written(stops=(KeyboardInterrupt, ClosedFormError), longest=SHORT)
        return self._paper.equations("closed", written, status, complete=False, stopped=True)

    def _written(self, **options: Any) -> Written:
        return write_closed(self._entries, self._named, self._paper.alphabet, self._report, **options)

    def _work(self) -> None:
        n, q = self._paper.model.nv, self._paper.q
        self._report.begin("recording")
        mass, potential = recorded(self._paper.model, self._paper.constants, energies).outputs
        self._report.begin("g")
        V = self._expansion.of(potential.entries[0])
        V = rounded(V.cleaned(V.size))
        self._entries["g"] = [V.derivative(name) for name in q]
        H = self._masses(mass)
        self._report.begin("C")
        c = christoffel([H[n * i : n * (i + 1)] for i in range(n)], q, self._report)
        self._named, c = named_repeated(c)
        self._entries["C"] = [x for row in coriolis(c, self._paper.qd) for x in row]
        self._join_waves()

    def _join_waves(self) -> None:
        """A cosine and a sine with the direction of a place between them as one wave."""
        if not self._expansion.phases and not self._paper.directions:
            return
        phases = Phases(self._expansion.phases | self._paper.directions)
        for what, entries in self._entries.items():
            self._entries[what] = [x if x is None else phases.of(x) for x in entries]
        named = [(name, phases.of(x)) for name, x in self._named]
        self._named = [*((name, number(value)) for name, value in phases.values.items()), *named]

    def _masses(self, H: Leaf) -> list[Polynomial]:
        """H from the tip of the tree to its root: easy entries first."""
        n = self._paper.model.nv
        cells = self._entries["H"] = [None] * (n * n)
        for i in reversed(range(n)):
            for j in reversed(range(i, n)):
                self._report.begin(f"H{i + 1},{j + 1} of {n},{n}")
                cells[n * i + j] = cells[n * j + i] = self._expansion.of(H.entries[n * i + j])
        every = [x for x in cells if x is not None]
        size = max((x.size for x in every), default=0.0)
        cleaned = [rounded(x.cleaned(size)) for x in every]
        self._entries["H"] = list(cleaned)
        return cleaned
