"""A state that obeys the constraints, from the numbers a person gives; and what was done to get it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kinpair import InputError, LimitWarning, Mechanism, SingularError
from kinpair.cli.state import Option
from kinpair.closure.assembly import Assembly
from kinpair.constraints.build import constraints_of
from kinpair.errors import listed

ROUNDING = 1e-9  # as good as zero
STEP = 0.1  # [rad] or [m]: how far named coordinates are led at a time
STEPS = 1000
ROUGH = 1e-3  # numbers typed with a few digits: put right, and told

Given = np.ndarray | Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Obeying:
    """Positions, rates and accelerations of a mechanism that obey its constraints; `notes` tell what was changed."""

    mechanism: Mechanism
    time: float = 0.0
    notes: list[str] = field(default_factory=list[str])

    def positions(self, given: Given) -> np.ndarray:
        """q: the start; with named coordinates held and the rest assembled; or all of them, checked."""
        m = self.mechanism
        if isinstance(given, np.ndarray):
            return self._all_positions(given)
        if not given:
            self._note("q: the start")
            return self._assembled(self._assembly.start(), [])
        held = [name for name in given if name in m.v_names]
        how = f"{listed(held)} held" if held else f"begun from the given {listed(given)}"
        self._note(f"q: assembled, {how}")
        begin = self._begin()
        return self._led(begin, Option("--q", m.q_names, begin).filled(given), held)

    def _led(self, begin: np.ndarray, end: np.ndarray, held: list[str]) -> np.ndarray:
        """From the start in short steps, each guessed from the last two, so that the linkage stays in its branch.

        At one go where that leads nowhere.
        """
        steps = min(max(1, math.ceil(np.abs(end - begin).max() / STEP)), STEPS)
        before = q = begin
        for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
            guess = np.where(end != begin, begin + part * (end - begin), 2.0 * q - before)
            found = self._assembly.assembled(guess, held, self.time)
            if not found.closed:
                return self._assembled(end, held)
            before, q = q, found.q
        return self._assembled(q, held)

    @property
    def _assembly(self) -> Assembly:
        assert self.mechanism.closure is not None
        return self.mechanism.closure.assembly

    def _assembled(self, guess: np.ndarray, held: list[str]) -> np.ndarray:
        """The position in the end; limits that it passes are told."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", LimitWarning)
            q = self.mechanism.assemble(guess, fixed=held, time=self.time)
        self.notes.extend(str(x.message) for x in told)
        return q

    def rates(self, q: np.ndarray, given: Given) -> np.ndarray:
        """q̇: the named ones are inputs, the rest follow; or all of them, checked."""
        m, time = self.mechanism, self.time
        if isinstance(given, np.ndarray):
            return self._all("qd", given, lambda near: m.velocities(q, guess=near, time=time))
        self._follow("qd", given)
        return m.velocities(q, given, time=time)

    def accelerations(self, q: np.ndarray, qd: np.ndarray, given: Given, driven: Given) -> np.ndarray:
        """q̈: the same; if nothing is given, the `driven` rates stay as they are where that can be."""
        m, time = self.mechanism, self.time
        if isinstance(given, np.ndarray):
            return self._all("qdd", given, lambda near: m.accelerations(q, qd, guess=near, time=time))
        if not given and isinstance(driven, Mapping) and driven:
            return self._steady(q, qd, dict.fromkeys(driven, 0.0))
        self._follow("qdd", given)
        return m.accelerations(q, qd, given, time=time)

    def _steady(self, q: np.ndarray, qd: np.ndarray, still: Mapping[str, float]) -> np.ndarray:
        try:
            found = self.mechanism.accelerations(q, qd, still, time=self.time)
        except SingularError:
            return self.mechanism.accelerations(q, qd, time=self.time)
        self._note(f"qdd: 0 for {listed(still)}, the rest follow")
        return found

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def _follow(self, key: str, given: Mapping[str, float]) -> None:
        if given:
            self._note(f"{key}: {listed(given)} given, the rest follow, as near to 0 as can be")

    def _begin(self) -> np.ndarray:
        """Where a search begins."""
        try:
            return self._assembly.start()
        except SingularError:
            return self.mechanism.neutral()

    def _all_positions(self, q: np.ndarray) -> np.ndarray:
        open_by = self._gaps(q)
        widest = max(open_by.values(), default=0.0)
        if widest <= ROUNDING:
            return q
        if widest > ROUGH:
            worst = sorted((x for x in open_by.items() if x[1] > ROUGH), key=lambda x: -x[1])
            off = ", ".join(f"{name!r} is off by {gap:.3g}" for name, gap in worst[:4])
            raise InputError(
                f"--q does not obey the constraints: {off}; "
                f"give those to hold by name, --q {self.mechanism.q_names[0]}=..., and the rest is assembled",
                option="--q",
            )
        self._note(f"q: was off by {widest:.1e}, assembled")
        return self._assembled(q, [])

    def _gaps(self, q: np.ndarray) -> dict[str, float]:
        """How far off each constraint is [m] or [rad]."""
        residual = np.abs(self.mechanism.constraint_residual(q, time=self.time))
        every = constraints_of(self.mechanism.model)
        parts = np.split(residual, np.cumsum([x.holonomic for x in every])[:-1])
        return {x.name: float(part.max(initial=0.0)) for x, part in zip(every, parts, strict=True)}

    def _all(self, key: str, given: np.ndarray, nearest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """All the numbers, if they obey the constraints but for the digits left out."""
        found = nearest(given)
        size = 1.0 + np.abs(given).max(initial=0.0)
        off = np.abs(found - given).max(initial=0.0) / size
        if off > ROUGH:
            change = int(np.abs(found - given).argmax())
            raise InputError(
                f"--{key} does not obey the constraints: the nearest that does differs by "
                f"{abs(found - given)[change]:.3g} at {self.mechanism.v_names[change]}; give the inputs by name, "
                f"--{key} {self.mechanism.v_names[0]}=..., and the rest follow",
                option=f"--{key}",
            )
        if off > ROUNDING:
            self._note(f"{key}: was off by {off * size:.1e}, put right")
        return found if off > ROUNDING else given
