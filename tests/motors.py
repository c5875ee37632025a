"""Elements with internal states and inputs that are not in the library, for tests of all that carries such."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import kinpair as kp
from kinpair.algebra.arrays import array
from kinpair.forces.element import Element


@dataclass(frozen=True)
class Winding(Element):
    """A voltage u drives a current x through a resistance and an inductance; its torque acts on a rate.

    L ẋ = u − R x − k q̇,   τ = k x
    """

    name: str
    bodies: tuple[int, ...]
    v: int
    R: float = 1.6
    L: float = 0.02
    k: float = 8.0
    dissipates = True

    @property
    def x_names(self):
        return (f"{self.name}.current",)

    @property
    def x_units(self):
        return ("A",)

    @property
    def u_names(self):
        return (self.name,)

    @property
    def u_units(self):
        return ("V",)

    @property
    def drives(self):
        return (self.v,)

    def efforts(self, at):
        return {self.v: self.k * at.x[0]}

    def energy(self, at):
        return 0.5 * self.L * at.x[0] * at.x[0]

    def supply(self, at):
        return {f"{self.name}.voltage": at.u[0] * at.x[0]}

    def losses(self, at):
        return {f"{self.name}.copper": self.R * at.x[0] * at.x[0]}

    def rates(self, at):
        return array([(at.u[0] - self.R * at.x[0] - self.k * at.state.qd[self.v]) / self.L])


@dataclass(frozen=True)
class Bristle(Element):
    """A spring x that slips: an internal state without an input.   ẋ = q̇ − x |q̇| / g,   τ = −s x"""

    name: str
    bodies: tuple[int, ...]
    v: int
    s: float = 30.0
    g: float = 0.05
    dissipates = True

    @property
    def x_names(self):
        return (f"{self.name}.bristle",)

    def efforts(self, at):
        return {self.v: -self.s * at.x[0]}

    def energy(self, at):
        return 0.5 * self.s * at.x[0] * at.x[0]

    def losses(self, at):
        return {self.name: self.s * at.x[0] * at.x[0] * abs(at.state.qd[self.v]) / self.g}

    def rates(self, at):
        v = at.state.qd[self.v]
        return array([v - at.x[0] * abs(v) / self.g])


def with_elements(m: kp.Mechanism, *elements: Element) -> kp.Mechanism:
    """The mechanism with more that acts."""
    return kp.Mechanism(replace(m.model, added=elements), compiled=m.compiled)


def on_joint(m: kp.Mechanism, kind: type[Element], name: str, joint: str, **numbers: float) -> Element:
    """An element on the one rate of a joint."""
    model = m.model
    i = model.joint_names.index(joint)
    return kind(name, (model.parent[i], i), model.v_names.index(joint), **numbers)


@cache
def driven(name: str = "double-pendulum", joint: str = "shoulder", rubbed: str = "") -> kp.Mechanism:
    """An example with a motor in one joint, and a bristle in another."""
    m = kp.example(name)
    elements = [on_joint(m, Winding, "motor", joint)]
    if rubbed:
        elements.append(on_joint(m, Bristle, f"{rubbed}.friction", rubbed))
    return with_elements(m, *elements)
