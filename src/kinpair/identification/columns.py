"""Columns of the regressor: inertia, rotors, friction, offsets, and the space of pseudo-inertias.

Pseudo-inertias: the ten parameters of a body as a symmetric 4 × 4 matrix.

    P = [Σ, h; hᵀ, m],   Σ = ∫ r rᵀ dm = ½ tr(I) 1 − I,   h = m c                                     (ID1)

P is positive definite exactly where some distribution of positive mass has these parameters. With T a pose and v̂ the
4 × 4 matrix of a twist:

    P_parent = T P Tᵀ,   v₁ᵀ M v₂ = tr(v̂₁ P v̂₂ᵀ)                                                      (ID2)

After Wensing, Kim, Slotine (2018) and Lee, Wensing, Park (2020).

Friction of a joint as columns that are linear in their parameters, and as laws of the library.

    F = c v + F_c s + o + b v (v² + v₀²)^((n−1)/2) + d s e^{−|v|/v_s} + μ s |T|,     s = sign v            (ID7)

T is the effort on the link, Y π of the inertial columns: the external torque of the law `servo`, see (FE4). The term
from load is linear in μ with T from the parameters before it, and is iterated. While a joint slides, an offset o cannot
be distinguished from levels that differ by direction: F_c ± o.

What the efforts are a linear function of: τ = Y θ with inertia, rotors, friction, offsets, motors, a payload.

θ = (π of every body, π of the payload, I_a of every rotor, friction terms, those of coupled motors)
coupled motor k with turns r_k = R_k/R_kk per joint turn:  τ = r_k [I_k r_kᵀq̈ + c_k r_kᵀq̇ + F_k sign(r_kᵀq̇)]   (ID8)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.description.parts import Friction
from kinpair.errors import InputError, listed
from kinpair.formulations.regressor import INERTIAL
from kinpair.friction.laws.laws import powered
from kinpair.mechanism import Mechanism
from kinpair.spatial.inertia import tensor

TEN = 10
LEAST_RADIUS = 0.01  # [m]: least radius of gyration of a prior
LEAST_MASS = 1e-3  # least mass of a prior, as a part of the mass of all bodies


def pseudo_inertia(pi: np.ndarray) -> np.ndarray:
    """P (..., 4, 4) of parameters (..., 10): m, m c, Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the origin.    (ID1)"""
    return np.einsum("...k,kij->...ij", pi, BASIS)


def parameters_of(P: np.ndarray) -> np.ndarray:
    """Parameters (..., 10) of a pseudo-inertia (..., 4, 4): the inverse of `pseudo_inertia`."""
    S = P[..., :3, :3]
    I = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S
    tensor = [I[..., 0, 0], I[..., 1, 1], I[..., 2, 2], I[..., 0, 1], I[..., 0, 2], I[..., 1, 2]]
    return np.stack([P[..., 3, 3], *(P[..., k, 3] for k in range(3)), *tensor], axis=-1)


def _basis() -> np.ndarray:
    E = np.zeros((TEN, 4, 4))
    E[0, 3, 3] = 1.0
    for k in range(3):
        E[1 + k, k, 3] = E[1 + k, 3, k] = 1.0
        E[4 + k, :3, :3] = 0.5 * np.eye(3)
        E[4 + k, k, k] -= 1.0
    for n, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        E[7 + n, i, j] = E[7 + n, j, i] = -1.0
    return E


BASIS = _basis()


def hat(twist: np.ndarray) -> np.ndarray:
    """v̂ (4, 4) of a twist [ω; v] (6,)."""
    x, y, z, *v = twist
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0.0, 0.0, 0.0, 0.0]])


def transfer(T: np.ndarray) -> np.ndarray:
    """Matrix (10, 10) that moves parameters by the homogeneous pose T (4, 4).    (ID2)"""
    return parameters_of(T @ BASIS @ T.T).T


def rate(twist: np.ndarray) -> np.ndarray:
    """Matrix (10, 10): rate at which parameters change while their frame moves with a twist."""
    V = hat(twist)
    return parameters_of(V @ BASIS + BASIS @ V.T).T


def measurement(v1: np.ndarray, v2: np.ndarray) -> np.ndarray:
    """Row (10,) of v₁ᵀ M v₂ as a function of the parameters.    (ID2)"""
    return np.einsum("ij,kjl,il->k", hat(v1), BASIS, hat(v2))


def floored(pi: np.ndarray, total: float) -> np.ndarray:
    """Parameters (10,) near `pi` whose P is well inside the positive matrices: a prior has to be.

    Mass at least a thousandth of the `total` [kg]; Σ about the mass centre at least that of a radius of 1 cm.
    """
    P = pseudo_inertia(pi)
    m = max(float(P[3, 3]), LEAST_MASS * max(total, 1e-9))
    c = P[:3, 3] / m
    S = P[:3, :3] - m * np.outer(c, c)
    values, U = np.linalg.eigh(0.5 * (S + S.T))
    S = (U * np.maximum(values, m * LEAST_RADIUS**2)) @ U.T + m * np.outer(c, c)
    h = (m * c)[:, None]
    return parameters_of(np.block([[S, h], [h.T, np.array([[m]])]]))


def is_consistent(pi: np.ndarray) -> bool:
    """True if the pseudo-inertia of the parameters (10,) is positive definite."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(pi))[0] > 0.0)


def body_numbers(pi: np.ndarray) -> dict[str, Any]:
    """Mass [kg], centre [m] and inertia (3, 3) [kg m²] about the centre, from ten parameters."""
    m, c = float(pi[0]), pi[1:4] / pi[0]
    return {"mass": m, "centre": c, "inertia": tensor(pi[4:]) - m * (c @ c * np.eye(3) - np.outer(c, c))}


POWER = 2.0 / 3.0  # n, see (FR6)
LEAST = 1e-9  # a smaller level of friction is none


@dataclass(frozen=True, slots=True)
class Term:
    """One term of (ID7): its name, with a speed where it has one, such as stribeck at 0.1 rad/s."""

    kind: str
    speed: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.kind} {self.speed:g}" if self.speed else self.kind

    @property
    def positive(self) -> bool:
        """True if the parameter of a passive joint cannot be negative."""
        return self.kind != "offset"

    def column(self, v: np.ndarray, T: np.ndarray | None) -> np.ndarray:
        """Effort per unit of the parameter, of rates v and efforts T handed to the links (n, rows)."""
        s = np.sign(v)
        match self.kind:
            case "viscous":
                return v
            case "coulomb":
                return s
            case "offset":
                return np.ones_like(v)
            case "power":
                return powered(v, POWER)
            case "stribeck":
                return s * np.exp(-np.abs(v) / self.speed)
            case "load":
                return s * np.abs(np.zeros_like(v) if T is None else T)
            case _:
                raise AssertionError(self.kind)


VISCOUS, COULOMB, OFFSET = Term("viscous"), Term("coulomb"), Term("offset")
POWER_TERM, LOAD = Term("power"), Term("load")
PLAIN = (VISCOUS, COULOMB, OFFSET)
STRIBECK_SPEEDS = (0.03, 0.1, 0.3)  # [rad/s] or [m/s] that are tried
OPTIONAL = (POWER_TERM, LOAD, *(Term("stribeck", x) for x in STRIBECK_SPEEDS))


SERVO_ZEROS = ("motor_share", "motor_share_static", "load_share_static", "motor_square", "load_square")


def laws_of(values: Mapping[Term, float], *, offset_is_friction: bool) -> tuple[Friction, ...]:
    """Laws of the library for the terms of one joint.

    offset_is_friction: an offset becomes levels that differ by direction, if it is smaller than the level and there is
    no friction from load, whose law has one level.
    """
    numbers = {term.kind: max(value, 0.0) for term, value in values.items() if term.positive}
    offset = next((value for term, value in values.items() if term.kind == "offset"), 0.0)
    level, load, surplus = (numbers.get(x, 0.0) for x in ("coulomb", "load", "stribeck"))
    viscous = {"viscous": numbers["viscous"]} if numbers.get("viscous", 0.0) > LEAST else {}
    fading = {"level_static": level + surplus, "stribeck_speed": 1.0, "exponent": 1.0}
    if surplus > LEAST:
        fading["stribeck_speed"] = next(term.speed for term in values if term.kind == "stribeck")
    sliding = {"level": level}
    if offset_is_friction and 0.0 < abs(offset) < level and load <= LEAST:
        sliding = {"level": level + offset, "level_negative": level - offset}
        fading["level_static"] += offset
    laws: list[Friction] = []
    if load > LEAST:
        laws.append(
            _law("servo", sliding | fading | {"load_share": load} | dict.fromkeys(SERVO_ZEROS, 0.0) | viscous)
        )
    elif surplus > LEAST:
        laws.append(_law("stribeck", sliding | fading | viscous))
    elif level > LEAST:
        laws.append(_law("coulomb", sliding | viscous))
    elif viscous:
        laws.append(_law("viscous", viscous))
    if numbers.get("power", 0.0) > LEAST:
        laws.append(_law("viscous", {"viscous": numbers["power"], "exponent": POWER}))
    return tuple(laws)


def _law(name: str, keys: Mapping[str, float]) -> Friction:
    return Friction(name, tuple((key, (float(x),)) for key, x in keys.items()))


def terms_from(friction: Any) -> tuple[Term, ...] | None:
    """Terms of `friction=` of `identify`: None for "auto", else by name."""
    if friction == "auto":
        return None
    if friction is None or friction == "none":
        return ()
    words: Sequence[str] = [friction] if isinstance(friction, str) else list(friction)
    every = {x.kind for x in (*PLAIN, *OPTIONAL)}
    terms: list[Term] = []
    for word in words:
        kind, _, speed = str(word).partition(" ")
        if kind not in every:
            raise InputError(
                f"friction has {word!r}; give 'auto', 'none', or a list of {listed(sorted(every))}",
                argument="friction",
            )
        terms.append(Term(kind, float(speed or 0.1) if kind == "stribeck" else 0.0))
    return tuple(terms)


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
        """Names of the columns."""
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
