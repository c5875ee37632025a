"""What the efforts are a linear function of: τ = Y θ with inertia, rotors, friction, offsets, motors, a payload.

θ = (π of every body, π of the payload, I_a of every rotor, friction terms, those of coupled motors)
coupled motor k with turns r_k = R_k/R_kk per joint turn:  τ = r_k [I_k r_kᵀq̈ + c_k r_kᵀq̇ + F_k sign(r_kᵀq̇)]   (ID8)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kinpair.formulations.regressor import INERTIAL
from kinpair.identification.friction_terms import COULOMB, VISCOUS, Term
from kinpair.identification.inertia_space import TEN
from kinpair.mechanism import Mechanism

INERTIAL_UNITS = ("kg", *("kg m",) * 3, *("kg m²",) * 6)
UNITS = {
    "viscous": "N m s/rad",
    "coulomb": "N m",
    "offset": "N m",
    "stribeck": "N m",
    "load": "",
    "rotor": "kg m²",
}
UNITS["power"] = "N m (s/rad)^⅔"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One entry of θ: what it is, of which body or joint, in which unit; positive: it cannot be below zero."""

    name: str
    group: str
    owner: int
    unit: str
    positive: bool = False
    term: Term | None = None


@dataclass(frozen=True, eq=False)
class Layout:
    """Columns of a problem: rates with efforts `rows`, friction terms by row, rotors, couplings, body of a payload.

    couplings: coupled motors, each with the number k of its own joint and r_k (driven joints,).
    """

    m: Mechanism
    rows: tuple[int, ...]
    terms: tuple[Term, ...]
    rotors: bool
    couplings: tuple[tuple[int, np.ndarray], ...] = ()
    payload: int | None = None
    passive: tuple[int, ...] = ()  # rows without friction, rotor and offset: a free base
    sensor: bool = False  # efforts are those of sensors behind the gear

    @property
    def offsets_measured(self) -> bool:
        """True if offsets are those of the measurement: of sensors, or next to friction from load, which has one level.
        Else they are friction that differs by direction."""
        return self.sensor or any(x.kind == "load" for x in self.terms)

    @cached_property
    def bodies(self) -> list[str]:
        """Names of the bodies, in the order of their parameters."""
        return [self.m.model.names[i] for i in self.m.model.moving]

    @cached_property
    def driven(self) -> list[int]:
        """Positions in `rows` of joints with friction and rotors."""
        return [k for k, v in enumerate(self.rows) if v not in self.passive]

    @cached_property
    def groups(self) -> np.ndarray:
        """Group (rows,) of equal weight of each row: its own, or one for all with a free base, whose zero efforts
        would get all the weight."""
        return np.zeros(len(self.rows), dtype=int) if self.passive else np.arange(len(self.rows))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What each column is."""
        found = [
            Parameter(f"{body}: {x}", "inertial", b, unit, x == "m")
            for b, body in enumerate(self.bodies)
            for x, unit in zip(INERTIAL, INERTIAL_UNITS, strict=True)
        ]
        if self.payload is not None:
            found += [
                Parameter(f"payload: {x}", "payload", self.payload, unit, x == "m")
                for x, unit in zip(INERTIAL, INERTIAL_UNITS, strict=True)
            ]
        names = [self.m.v_names[v] for v in self.rows]
        if self.rotors:
            found += [Parameter(f"{names[k]}: rotor inertia", "rotor", k, "kg m²", True) for k in self.driven]
        found += [
            Parameter(f"{names[k]}: {term.name}", "friction", k, UNITS[term.kind], term.positive, term)
            for term in self.terms
            for k in self.driven
        ]
        for k, _ in self.couplings:
            motor = names[self.driven[k]]
            found += [Parameter(f"motor of {motor}: rotor inertia", "motor", -1, "kg m²", True)] * self.rotors
            found += [
                Parameter(f"motor of {motor}: {t.name}", "motor", -1, UNITS[t.kind], True, t)
                for t in (VISCOUS, COULOMB)
            ]
        return tuple(found)

    @cached_property
    def names(self) -> list[str]:
        """Names of all parameters."""
        return [x.name for x in self.parameters]

    def of_group(self, *groups: str) -> np.ndarray:
        """Indices of the parameters of some groups."""
        return np.array([k for k, x in enumerate(self.parameters) if x.group in groups], dtype=int)

    @property
    def bodies_of_ten(self) -> list[np.ndarray]:
        """Indices (10,) of each pseudo-inertia: of all bodies, and of the payload."""
        count = len(self.bodies) + (self.payload is not None)
        return [np.arange(TEN * k, TEN * (k + 1)) for k in range(count)]

    def inertial(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, loaded: bool) -> np.ndarray:
        """Columns (n, rows, 10 bodies) of all pseudo-inertias."""
        Y = self.m.regressor(q, qd, qdd)[:, list(self.rows), : TEN * len(self.bodies)]
        if self.payload is None:
            return Y
        P = Y[:, :, TEN * self.payload : TEN * (self.payload + 1)]
        return np.concatenate([Y, P if loaded else np.zeros_like(P)], axis=2)

    def further(self, qd: np.ndarray, qdd: np.ndarray, T: np.ndarray | None) -> np.ndarray:
        """Columns (n, rows, parameters behind the inertial ones): rotors, friction, coupled motors."""
        v, a = qd[:, list(self.rows)], qdd[:, list(self.rows)]
        n, rows = v.shape
        diagonals = [a] * self.rotors + [term.column(v, T) for term in self.terms]
        Y = np.zeros((n, rows, len(self.parameters) - TEN * len(self.bodies_of_ten)))
        k = 0
        for x in diagonals:
            for row in self.driven:
                Y[:, row, k] = x[:, row]
                k += 1
        for _, r in self.couplings:
            speed, rate = v[:, self.driven] @ r, a[:, self.driven] @ r
            for x in [rate] * self.rotors + [speed, np.sign(speed)]:
                Y[:, self.driven, k] = x[:, None] * r  # (ID8)
                k += 1
        return Y


def coupled(R: np.ndarray) -> tuple[tuple[int, np.ndarray], ...]:
    """Motors k that turn with several joints, and their r_k (n,).    (ID8)"""
    scaled = R / np.diag(R)[:, None]
    return tuple((k, r) for k, r in enumerate(scaled) if (np.abs(r) > 1e-12).sum() > 1)


def with_terms(layout: Layout, terms: Sequence[Term]) -> Layout:
    """The layout with other friction terms."""
    return replace(layout, terms=tuple(terms))
