"""A state that obeys the constraints, from the numbers a person gives; and what was done to get it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kinpair import InputError, LimitWarning, Mechanism, SingularError
from kinpair.cli.state import Option
from kinpair.constraints.assembly.positions import Assembly
from kinpair.constraints.rows.build import constraints_of
from kinpair.errors import listed

ROUNDING = 1e-9  # as good as zero
ROUGH = 1e-3  # numbers typed with a few digits: put right, and told

Stated = np.ndarray | Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Obeying:
    """Positions, rates and accelerations of a mechanism that obey its constraints; `notes` tell what was changed."""

    mechanism: Mechanism
    time: float = 0.0
    notes: list[str] = field(default_factory=list[str])

    def positions(self, stated: Stated) -> np.ndarray:
        """q: the start; with named coordinates held and the rest assembled; or all of them, checked."""
        m = self.mechanism
        if isinstance(stated, np.ndarray):
            return self._all_positions(stated)
        if not stated:
            self._note("q: the start")
            return self._assembled(self._assembly.start())
        self._note(f"q: assembled, {listed(stated)} held")
        begin = self._assembly.begin()
        end = Option("--q", m.q_names, begin).filled(stated)
        return self._noted(lambda: self._assembly.led(begin, end, tuple(stated), self.time))

    @property
    def _assembly(self) -> Assembly:
        assert self.mechanism.closure is not None
        return self.mechanism.closure.assembly

    def _assembled(self, guess: np.ndarray) -> np.ndarray:
        return self._noted(lambda: self._assembly.assemble(guess, (), self.time))

    def _noted(self, search: Callable[[], np.ndarray]) -> np.ndarray:
        """The position in the end; limits that it passes are told."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LimitWarning)
            q = search()
        self.notes.extend(str(x.message) for x in caught)
        return q

    def rates(self, q: np.ndarray, stated: Stated) -> np.ndarray:
        """q̇: the named ones are inputs, the rest follow; or all of them, checked."""
        m, time = self.mechanism, self.time
        if isinstance(stated, np.ndarray):
            return self._all("qd", stated, lambda near: m.velocities(q, guess=near, time=time))
        self._follow("qd", stated)
        return m.velocities(q, stated, time=time)

    def accelerations(self, q: np.ndarray, qd: np.ndarray, stated: Stated, driven: Stated) -> np.ndarray:
        """q̈: the same; if nothing is given, the `driven` rates stay as they are where that can be."""
        m, time = self.mechanism, self.time
        if isinstance(stated, np.ndarray):
            return self._all("qdd", stated, lambda near: m.accelerations(q, qd, guess=near, time=time))
        if not stated and isinstance(driven, Mapping) and driven:
            return self._steady(q, qd, dict.fromkeys(driven, 0.0))
        self._follow("qdd", stated)
        return m.accelerations(q, qd, stated, time=time)

    def _steady(self, q: np.ndarray, qd: np.ndarray, still: Mapping[str, float]) -> np.ndarray:
        try:
            qdd = self.mechanism.accelerations(q, qd, still, time=self.time)
        except SingularError:
            return self.mechanism.accelerations(q, qd, time=self.time)
        self._note(f"qdd: 0 for {listed(still)}, the rest follow")
        return qdd

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def _follow(self, key: str, stated: Mapping[str, float]) -> None:
        if stated:
            self._note(f"{key}: {listed(stated)} given, the rest follow, as near to 0 as can be")

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
        return self._assembled(q)

    def _gaps(self, q: np.ndarray) -> dict[str, float]:
        """How far off each constraint is [m] or [rad]."""
        residual = np.abs(self.mechanism.constraint_residual(q, time=self.time))
        every = constraints_of(self.mechanism.model)
        parts = np.split(residual, np.cumsum([x.holonomic for x in every])[:-1])
        return {x.name: float(part.max(initial=0.0)) for x, part in zip(every, parts, strict=True)}

    def _all(self, key: str, stated: np.ndarray, nearest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """All the numbers, if they obey the constraints but for the digits left out."""
        solution = nearest(stated)
        size = 1.0 + np.abs(stated).max(initial=0.0)
        off = np.abs(solution - stated).max(initial=0.0) / size
        if off > ROUGH:
            change = int(np.abs(solution - stated).argmax())
            raise InputError(
                f"--{key} does not obey the constraints: the nearest that does differs by "
                f"{abs(solution - stated)[change]:.3g} at {self.mechanism.v_names[change]}; give the inputs by name, "
                f"--{key} {self.mechanism.v_names[0]}=..., and the rest follow",
                option=f"--{key}",
            )
        if off > ROUNDING:
            self._note(f"{key}: was off by {off * size:.1e}, put right")
        return solution if off > ROUNDING else stated
