"""The equations of a mechanism as a user holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from kinpair.closed_form.formula import ZERO, Formula, Product, Sum, Symbol
from kinpair.equations_of_motion.on_a_sheet import OnASheet
from kinpair.equations_of_motion.significance import Significance, states_of
from kinpair.errors import InputError


@final
@dataclass(frozen=True, eq=False, repr=False)
class PrintedEnergy(OnASheet):
    """A kinetic or potential energy as a formula."""

    @property
    def formula(self) -> Formula:
        """The energy as a formula; `text(formula)` writes it.

        Units: [J].
        """
        (array,) = self.sheet.results.values()
        return array[0]

    def evaluate(self, q: Any, qd: Any, values: Mapping[str, float] | None = None) -> float:
        """Compute the energy of a state; `values` of parameters, by symbol, that differ from the description's.

        Units: [J].
        """
        (energy,) = self.sheet.evaluate(q, qd, values=values).values()
        return float(energy[0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class Equations(OnASheet):
    """The equations of motion of a mechanism, H q̈ + C q̇ + g + d = τ, as formulas.

    `H` and `C` (nv, nv), `g` and `d` (nv,) are arrays of formulas: gravity is g, springs, dampers and dry friction are
    d, `h` is C q̇ + g + d. `form` is "closed" (each entry in one piece) or "terms" (a list of short named terms in
    order of need). `status` says why, and how far the work got if it was stopped; entries not finished are None.
    On paper g is called G, since a letter g is the acceleration of gravity.
    """

    energy: Callable[[str], PrintedEnergy] | None = None

    @cached_property
    def kinetic_energy(self) -> PrintedEnergy:
        """The kinetic energy T as a formula: print it, or `.latex()`, `.sympy()`, `.evaluate(q, qd)`.

        Units: [J].
        """
        return self._energy("T")

    @cached_property
    def potential_energy(self) -> PrintedEnergy:
        """The potential energy V of gravity, zero at the origin of the world, as a formula; springs are not in it.

        Units: [J].
        """
        return self._energy("V")

    def _energy(self, what: str) -> PrintedEnergy:
        assert self.energy is not None
        return self.energy(what)

    @property
    def H(self) -> np.ndarray:
        """Mass matrix (nv, nv).

        Units: entries [kg m²], [kg m] or [kg].
        """
        return self.sheet.results["H"]

    @property
    def C(self) -> np.ndarray:
        """Coriolis matrix (nv, nv), Ḣ − 2C skew.

        Units: entries [N m s/rad] or [N s/m].
        """
        return self.sheet.results["C"]

    @property
    def g(self) -> np.ndarray:
        """Gravity (nv,).

        Units: [N m] or [N].
        """
        return self.sheet.results["g"]

    @property
    def d(self) -> np.ndarray:
        """Springs, dampers and dry friction (nv,).

        Units: [N m] or [N].
        """
        return self.sheet.results.get("d", np.full(self.g.shape, ZERO, dtype=object))

    @property
    def h(self) -> np.ndarray:
        """C q̇ + g + d (nv,); None where a part of it is not finished.

        Units: [N m] or [N].
        """
        sums = np.full(self.g.shape, None, dtype=object)
        for i, (row, g, d) in enumerate(zip(self.C, self.g, self.d, strict=True)):
            if any(x is None for x in (*row, g, d)):
                continue
            rates = zip(row, self.sheet.variables["qd"], strict=True)
            terms = [*(Product((x, Symbol(qd))) for x, qd in rates if x != ZERO), g, d]
            sums[i] = Sum(tuple(x for x in terms if x != ZERO) or (ZERO,))
        return sums

    def significance(self, q: Any, qd: Any, qdd: Any = None) -> Significance:
        """Measure each summand of H, C q̇ and g: the largest |summand| / |entry| over the states.

        q (states, nq), qd (states, nv); qdd (states, nv), zero if not given, is used for torque errors alone. Only for
        closed forms. `print` the result, or call its `.simplified(tolerance)`.

        Units: q [rad] or [m], rates [rad/s] or [m/s].
        """
        if self.form != "closed" or not self.complete:
            raise InputError(
                f"{self.sheet.name}: significance needs the closed form of every entry; here is {self.status}. "
                "kinpair.equations(m, form='closed') gives it where it exists"
            )
        return Significance(self, states_of(self, q, qd, qdd))

    def evaluate(self, q: Any, qd: Any, values: Mapping[str, float] | None = None) -> dict[str, np.ndarray]:
        """H, C, g (and d) in numbers; `values` of parameters, by letter, that shall differ from the description's.

        Units: [kg m²] or [kg] of H, [N m] or [N] of forces.
        """
        return self.sheet.evaluate(q, qd, values=values)
