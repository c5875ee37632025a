"""Parts between a regulator and its mechanism: encoders, noise, the sample time, limits of efforts, delay.

q̂ = ⌊q/d + ½⌋ d                              an encoder with steps d                                  (RG10)
q̇̂ = (q̂_k − q̂_{k−1}) / T                      rates from it, where they are not measured               (RG11)
τ_k = u_{k−n}                                a delay of n samples                                     (RG12)

Numbers that look random, from arithmetic that is exact in floating point: the same in Python and in machine code.

P. L'Ecuyer, Efficient and portable combined random number generators, Communications of the ACM 31 (1988) 742–749:

    s₁ ← 40014 s₁ mod 2147483563,   s₂ ← 40692 s₂ mod 2147483399,   u = (s₁ − s₂) mod 2147483562 / 2147483563     (RN1)
    n₁ = √(−2 ln u₁) cos 2πu₂,   n₂ = √(−2 ln u₁) sin 2πu₂                  Box and Muller (1958)                 (RN2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.control.regulator import Measured, Regulator, period_of
from kinpair.errors import InputError, expect, listed
from kinpair.model.entries import filled, words_of
from kinpair.model.model import Model

M1, M2, A1, A2 = 2147483563.0, 2147483399.0, 40014.0, 40692.0
STATE = 2  # numbers


def seeded(seed: Any) -> np.ndarray:
    """A state (2,), or (n, 2) of n seeds: whole numbers from 1 below the moduli, spread by NumPy's seed sequence."""
    if np.ndim(seed):
        return np.array([seeded(x) for x in np.ravel(seed)])
    words = np.random.SeedSequence(int(seed)).generate_state(2, np.uint64)
    return np.array([1.0 + float(words[0] % np.uint64(M1 - 1)), 1.0 + float(words[1] % np.uint64(M2 - 1))])


def _modulo(x: Scalar, m: float) -> Scalar:
    """x mod m of whole numbers below 2⁵³."""
    return x - m * np.floor(x / m)


def uniform(state: Vector) -> tuple[Scalar, Vector]:
    """A number between 0 and 1, and the next state.    (RN1)"""
    s1, s2 = _modulo(A1 * state[0], M1), _modulo(A2 * state[1], M2)
    z = s1 - s2
    return where(less(z, 1.0), z + (M1 - 1.0), z) / M1, array([s1, s2])


def normal(state: Vector, count: int) -> tuple[Vector, Vector]:
    """Draw independent numbers of the standard normal distribution (count,), and the next state.    (RN2)"""
    found: list[Scalar] = []
    for _ in range((count + 1) // 2):
        u1, state = uniform(state)
        u2, state = uniform(state)
        r, angle = np.sqrt(-2.0 * np.log(u1)), 2.0 * np.pi * u2
        found += [r * np.cos(angle), r * np.sin(angle)]
    return array(found[:count]) if count else np.zeros(0), state


LONGEST = 1000  # samples of delay


@final
@dataclass(frozen=True, eq=False, repr=False)
class InLoop(Regulator):
    """A regulator with what stands around it; `in_loop` makes it."""

    law: Regulator
    saturates: bool = False
    encoded: bool = False
    differenced: bool = False
    noisy: bool = False
    seed: Any = 0
    delay: int = 0

    def _words(self) -> str:
        return repr(self.law)

    @property
    def _sizes(self) -> dict[str, int]:
        """Sizes of what is remembered, by name."""
        sizes = {"law": self.law.memory.shape[-1], "begun": int(self.differenced or self.delay > 0)}
        sizes |= {"before": self.model.nq * self.differenced, "random": STATE * self.noisy}
        return sizes | {"waiting": self.model.nv * self.delay}

    @property
    def memory(self) -> np.ndarray:
        state = seeded(self.seed) if self.noisy else np.zeros(0)
        law = self.law.memory
        lead = state.shape[:-1] or law.shape[:-1]
        parts = {"law": law, "random": state}
        zeros = {name: np.zeros(n) for name, n in self._sizes.items()}
        whole = [np.broadcast_to(parts.get(name, x), (*lead, x.shape[-1])) for name, x in zeros.items()]
        return np.concatenate(whole, axis=-1)

    @property
    def needs_samples(self) -> bool:
        return True

    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        kept, start = dict[str, Vector](), 0
        for name, size in self._sizes.items():
            kept[name] = memory[start : start + size]
            start += size
        at = self._sensed(at, row, kept)
        tau, kept["law"] = self.law.act(at, row[: self.law.table.width], kept["law"])
        if self.saturates:
            most = self.table.part(row, "limit")
            tau = maximum(minimum(tau, most), -most)
        tau = self._delayed(tau, kept)
        if len(kept["begun"]):
            kept["begun"] = np.ones(1)
        return tau, np.concatenate(list(kept.values()))

    def _sensed(self, at: Measured, row: Vector, kept: dict[str, Vector]) -> Measured:
        """Readings of the sensors: noise, then steps, then differences."""
        q, qd = at.q, at.qd
        if self.noisy:
            numbers, kept["random"] = normal(kept["random"], self.model.nq + self.model.nv)
            q = q + self.table.part(row, "noise q") * numbers[: self.model.nq]
            qd = qd + self.table.part(row, "noise qd") * numbers[self.model.nq :]
        if self.encoded:
            d = self.table.part(row, "steps")
            has = less(0.0, d)
            width = where(has, d, 1.0)
            q = where(has, np.floor(np.divide(q, width) + 0.5) * width, q)  # (RG10)
        if self.differenced:
            moved = np.divide(q - kept["before"], at.period)  # (RG11)
            qd = where(less(0.5, kept["begun"][0]), moved, qd)
            kept["before"] = q
        return replace(at, q=q, qd=qd)

    def _delayed(self, tau: Vector, kept: dict[str, Vector]) -> Vector:
        """The efforts of some samples ago; before there were any, the first ones."""
        if not self.delay:
            return tau
        n, begun = self.model.nv, less(0.5, kept["begun"][0])
        waiting = [where(begun, kept["waiting"][k * n : (k + 1) * n], tau) for k in range(self.delay)]
        kept["waiting"] = np.concatenate([*waiting[1:], tau])
        return waiting[0]  # (RG12)


def in_loop(
    regulator: Regulator,
    *,
    sample_time: float | None = None,
    saturation: Any = None,
    delay: float = 0.0,
    encoder: Any = None,
    rates: str = "measured",
    noise: Any = None,
    seed: Any = 0,
) -> InLoop:
    """The regulator as it stands in a real loop.

    * `sample_time` [s]: by default that of the regulator, else 1 ms;
    * `saturation`: the largest effort, a number, (nv,), by name, or True for those of the description;
    * `delay` [s]: whole samples from measurement to effort;
    * `encoder`: steps of coordinates [rad] or [m], a number, (nq,) or by name, 0 for none; `rates="difference"` has
      rates from these steps, and none are measured;
    * `noise`: standard deviations of coordinates and rates, a number or a pair of numbers, arrays or mappings;
      `seed`: a whole number, or one for each motion of a batch.
    """
    expect("in_loop", regulator, Regulator, advice="kp.regulator.pd(m, motion, frequency=10) is one")
    m, own = regulator.model, regulator.sample_time
    period = period_of(m.name, sample_time) or own or 1e-3
    if own is not None and not np.isclose(period, own, rtol=1e-12):
        raise InputError(
            f"{m.name}: the regulator was made for a sample_time of {own:g} s, not {period:g} s; make it anew for that"
        )
    most, steps = _limits(m, saturation), _coordinates(m, "encoder", encoder)
    of_q, of_qd = _noise(m, noise)
    if rates not in ("measured", "difference"):
        raise InputError(
            f"{m.name}: rates is {rates!r}; they are 'measured', or the 'difference' of coordinates"
        )
    if rates == "difference" and m.nq != m.nv:
        joints = [m.joint_names[i] for i in m.moving if m.body[i].pair.nq > m.body[i].pair.nv]
        raise InputError(
            f"{m.name}: rates='difference' has no meaning for the quaternion of {listed(joints)}"
        )
    wider = regulator.table.with_constants(
        {"limit": most, "steps": steps, "noise q": of_q, "noise qd": of_qd}
    )
    return InLoop(
        m,
        wider,
        regulator,
        saturates=saturation is not None,
        encoded=bool(steps.any()),
        differenced=rates == "difference",
        noisy=bool(of_q.any() or of_qd.any()),
        seed=seed,
        delay=_samples(m, delay, period),
        sample_time=period,
    )


def _samples(m: Model, delay: Any, period: float) -> int:
    count = round(float(delay) / period)
    if not 0 <= count <= LONGEST or abs(count * period - delay) > 1e-6 * period:
        raise InputError(
            f"{m.name}: delay is {delay!r} s; give a whole number of samples of {period:g} s, at most {LONGEST}",
            argument="delay",
        )
    return count


def _limits(m: Model, given: Any) -> np.ndarray:
    if given is None or given is True:
        return np.minimum(m.joints.effort, np.finfo(float).max)
    found = _rates(m, "saturation", given, np.inf)
    if not (found > 0.0).all():
        raise InputError(f"{m.name}: saturation is {given!r}; give efforts above zero", argument="saturation")
    return np.minimum(found, np.finfo(float).max)


def _rates(m: Model, what: str, given: Any, absent: float = 0.0) -> np.ndarray:
    if isinstance(given, Mapping):
        return filled(m, words_of(what), given, np.full(m.nv, absent))[0]
    return _shaped(m, what, given, m.nv)


def _coordinates(m: Model, what: str, given: Any) -> np.ndarray:
    if isinstance(given, Mapping):
        return filled(m, words_of(what), given, np.zeros(m.nq), coordinates=True)[0]
    value = 0.0 if given is None else given
    found = _shaped(m, what, value, m.nq)
    if np.ndim(value) == 0 and m.nq != m.nv:  # a number is not meant for quaternions
        for i in m.moving:
            if m.body[i].pair.nq > m.body[i].pair.nv:
                found[m.q_span[i]] = 0.0
    return found


def _shaped(m: Model, what: str, given: Any, size: int) -> np.ndarray:
    try:
        found = np.array(np.broadcast_to(np.asarray(given, dtype=float), (size,)))
    except (TypeError, ValueError):
        found = np.full(size, np.nan)
    if np.isnan(found).any() or (found < 0.0).any():
        raise InputError(
            f"{m.name}: {what} is {given!r}; give a number, {size} of them, or some by name, not below zero",
            argument=what,
        )
    return found


def _noise(m: Model, given: Any) -> tuple[np.ndarray, np.ndarray]:
    if given is None:
        return np.zeros(m.nq), np.zeros(m.nv)
    of_q, of_qd = given if isinstance(given, tuple) and len(given) == 2 else (given, given)
    return _coordinates(m, "noise", of_q), _rates(m, "noise", of_qd)
