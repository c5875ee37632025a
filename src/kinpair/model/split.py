"""Pairs of several degrees as chains of pairs of one degree with massless bodies between (Likins).

The same mechanism in other coordinates: hinges and slides instead of quaternions. The maps between the
two are regular in one direction and, away from gimbal lock, in the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, cast

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.description.constraint_parts import ConstraintPart, Coupling, Custom, Drive, Formulas
from kinpair.description.formula import RATE, identifier
from kinpair.description.friction_laws import laws_of
from kinpair.description.parts import Description, Friction, Joint, Keyframe, Link, Origin
from kinpair.description.warning_list import at
from kinpair.errors import DescriptionError, InputError, SingularError, listed
from kinpair.model.model import Model
from kinpair.pairs import PAIRS, Pair

GIMBAL = 1e-9
_PASSIVE = ("damping", "friction", "stiffness", "rest")
_BY_DEGREE = ("lower", "upper", "velocity", "acceleration", "jerk", "effort", *_PASSIVE)
_OF_RATES = (
    *_BY_DEGREE,
    "rotor_inertia",
)  # of joints of several degrees, those with a quaternion alone have a rotor


def split_description(
    description: Description, *, passive: bool = True, kinds: Collection[str] | None = None
) -> Description:
    """Every joint of several degrees replaced by its steps: joints and massless links `name.1`, `name.2`, ...

    passive: False leaves out springs, dampers and friction of all joints, and springs between points. Those of a joint
    with a quaternion belong to its rates ω = S(s) ṡ: a damper −c ω there is −c SᵀS ṡ in the hinges, which no dampers in
    single hinges are. kinds: of joints to split; default: all that have steps.
    """
    if not passive:
        none = dict.fromkeys(_PASSIVE, ())
        bare = tuple(replace(joint, **none) for joint in description.joints)  # type: ignore[arg-type]
        return split_description(replace(description, joints=bare, springs=()), kinds=kinds)
    links, joints, renamed = list(description.links), list[Joint](), dict[str, str]()
    chains = list[tuple[Joint, list[Joint]]]()
    taken = {part.name for part in (*description.links, *description.joints, *description.frames)}
    for joint in description.joints:
        steps = PAIRS[joint.kind].steps
        if not steps or (kinds is not None and joint.kind not in kinds):
            joints.append(joint)
            continue
        chain = _chain(joint, taken)
        chains.append((joint, chain))
        parts = PAIRS[joint.kind].q_parts
        if parts == PAIRS[joint.kind].v_parts:
            renamed |= {f"{joint.name}.{x}": step.name for x, step in zip(parts, chain, strict=True)}
        else:
            _refuse_functions(description, joint)
        links += [Link(step.child, where=joint.where) for step in chain[:-1]]
        joints += chain
    constraints = tuple(_renamed(x, renamed) for x in description.constraints)
    keyframes = tuple(_split_state(x, chains) for x in description.keyframes)
    return replace(
        description, links=tuple(links), joints=tuple(joints), constraints=constraints, keyframes=keyframes
    )


def _renamed(part: ConstraintPart, names: Mapping[str, str]) -> ConstraintPart:
    """Return the constraint on coordinates of other names."""
    if isinstance(part, Custom):
        return replace(part, phi=_in_formulas(part.phi, names), psi=_in_formulas(part.psi, names))
    if not isinstance(part, (Coupling, Drive)):
        return part
    joint = names.get(part.joint, part.joint)
    if isinstance(part, Drive):
        return replace(part, joint=joint)
    return replace(part, joint=joint, terms=tuple((names.get(x, x), factors) for x, factors in part.terms))


def _in_formulas(rows: Formulas | None, names: Mapping[str, str]) -> Formulas | None:
    """Formulas in coordinates of other names; a function goes by their order, which stays."""
    if not isinstance(rows, tuple):
        return rows
    others = {f"{identifier(a)}{x}": f"{identifier(b)}{x}" for a, b in names.items() for x in ("", RATE)}
    return tuple(
        re.sub(r"\w+", lambda word: others.get(word[0], word[0]), x) for x in cast("tuple[str, ...]", rows)
    )


def _refuse_functions(description: Description, joint: Joint) -> None:
    for part in description.constraints:
        if isinstance(part, Custom):
            raise DescriptionError(
                f"{at(part.where)}custom {part.name!r} is a function of all coordinates, and splitting joint "
                f"{joint.name!r} makes angles of its quaternion; leave one of the two out",
                part=part.name,
                joint=joint.name,
            )


def _chain(joint: Joint, taken: set[str]) -> list[Joint]:
    pair = PAIRS[joint.kind]
    turn, seated = pair.seated(joint.axis, joint.axis2, joint.pitch)
    starts = _starts(joint, seated)
    stem = next(s for s in (joint.name + "'" * n for n in count()) if f"{s}.1" not in taken)
    names = [f"{stem}.{k}" for k in range(1, len(pair.steps) + 1)]
    parents = [joint.parent, *names[:-1]]
    children = [*names[:-1], joint.child]
    return [
        replace(
            _own(joint, k),
            name=name,
            kind=kind,
            parent=parent,
            child=child,
            origin=joint.origin if parent == joint.parent else Origin(),
            child_origin=joint.child_origin if child == joint.child else Origin(),
            axis=tuple((turn @ np.array(axis)).tolist()),
            start=starts[k],
            compliance=_same_everywhere(joint) if child == joint.child else (),
        )
        for k, (name, parent, child, (kind, axis)) in enumerate(
            zip(names, parents, children, pair.steps, strict=True)
        )
    ]


def _same_everywhere(joint: Joint) -> tuple[float, ...]:
    """Copy its compliance, which the last step takes: all of them carry the same wrench, in axes of their own."""
    if len(set(joint.compliance)) > 1:
        raise DescriptionError(
            f"{at(joint.where)}joint {joint.name!r}: a compliance of six numbers cannot be split; give one for all, or "
            "write the hinges yourself",
            joint=joint.name,
        )
    return joint.compliance


def _starts(joint: Joint, pair: Pair) -> list[tuple[float, ...]]:
    """Start of each step."""
    if not joint.start:
        return [()] * pair.nv
    q = np.array(joint.start) + np.zeros(pair.nq)
    return [(x,) for x in pair.to_split(q, np.zeros(pair.nv), np.zeros(pair.nv))[0].tolist()]


def _split_state(state: Keyframe, chains: list[tuple[Joint, list[Joint]]]) -> Keyframe:
    """Convert the state to the joints of the split."""
    q, qd = dict(state.q), dict(state.qd)
    for joint, chain in chains:
        if joint.name in q or joint.name in qd:
            _, pair = PAIRS[joint.kind].seated(joint.axis, joint.axis2, joint.pitch)
            still = np.zeros(pair.nv)
            at = np.array(q.pop(joint.name, joint.start) or pair.neutral())
            rates = np.array(qd.pop(joint.name, still))
            s, sd, _ = pair.to_split(at, rates, still)
            names = [step.name for step in chain]
            q |= {name: (float(x),) for name, x in zip(names, s, strict=True)}
            qd |= {name: (float(x),) for name, x in zip(names, sd, strict=True)}
    return replace(state, q=tuple(q.items()), qd=tuple(qd.items()))


def _own(joint: Joint, k: int) -> Joint:
    """Return a joint, actuated as the whole, with the springs, dampers, friction and limits of degree k alone."""
    numbers = {name: values for name in _OF_RATES if (values := getattr(joint, name))}
    if numbers and PAIRS[joint.kind].q_parts != PAIRS[joint.kind].v_parts:
        road = "split(passive=False) leaves it out" if set(numbers) <= set(_PASSIVE) else "leave it out"
        raise DescriptionError(
            f"{at(joint.where)}joint {joint.name!r}: {listed(numbers)} of a {joint.kind} joint cannot be split; "
            f"{road}, or write the hinges yourself",
            joint=joint.name,
        )
    own: dict[str, tuple[Any, ...]] = {
        name: (values[min(k, len(values) - 1)],) for name, values in numbers.items() if name != "friction"
    }
    own["friction"] = tuple(_of_degree(x, k) for x in laws_of(joint.friction))
    bare = Joint("", "", "", "", actuated=joint.actuated, restitution=joint.restitution, where=joint.where)
    return replace(bare, **own)  # type: ignore[arg-type]


def _of_degree(law: Friction, k: int) -> Friction:
    """Return the law on one degree."""
    return Friction(law.law, tuple((key, (x[min(k, len(x) - 1)],)) for key, x in law.numbers))


@dataclass(frozen=True, slots=True, eq=False)
class SplitMap:
    """Maps between the states of a model and of its split."""

    whole: Model
    split: Model

    def to_split(self, q: Vector, qd: Vector, qdd: Vector) -> tuple[Vector, Vector, Vector]:
        """Coordinates, rates and accelerations of the split; SingularError where a ball joint is in gimbal lock."""
        self._check(q, self.whole.nq, qd, self.whole.nv, qdd, self.whole.nv)
        out = tuple(np.zeros(self.split.nv) for _ in range(3))
        for i, span in self._spans():
            q_i, v_i = self.whole.q_span[i], self.whole.v_span[i]
            parts = self.whole.body[i].pair.to_split(q[q_i], qd[v_i], qdd[v_i])
            for x, part in zip(out, parts, strict=True):
                x[span] = part
            pair = self.whole.body[i].pair
            if pair.nq > pair.nv and abs(np.cos(out[0][span][-2])) < GIMBAL:
                joint = self.whole.joint_names[i]
                raise SingularError(
                    f"{self.whole.name}: joint {joint!r} is in gimbal lock: its first and third hinge are parallel, "
                    "and their rates are not unique; turn it a little",
                    joint=joint,
                )
        return out[0], out[1], out[2]

    def from_split(self, s: Vector, sd: Vector, sdd: Vector) -> tuple[Vector, Vector, Vector]:
        """Coordinates, rates and accelerations of the whole."""
        self._check(s, self.split.nq, sd, self.split.nv, sdd, self.split.nv)
        q, qd, qdd = np.zeros(self.whole.nq), np.zeros(self.whole.nv), np.zeros(self.whole.nv)
        for i, span in self._spans():
            parts = self.whole.body[i].pair.from_split(s[span], sd[span], sdd[span])
            q[self.whole.q_span[i]] = parts[0]
            qd[self.whole.v_span[i]] = parts[1]
            qdd[self.whole.v_span[i]] = parts[2]
        return q, qd, qdd

    def efforts_to_split(self, s: Vector, tau: Vector) -> Vector:
        """τ_s = (∂q̇/∂ṡ)ᵀ τ: the same power by the other rates."""
        out = np.zeros(self.split.nv)
        for i, span in self._spans():
            out[span] = self.whole.body[i].pair.split_rates(s[span]).T @ tau[self.whole.v_span[i]]
        return out

    def _check(self, *state: Any) -> None:
        for x, size in zip(state[::2], state[1::2], strict=True):
            if np.shape(x) != (size,):
                raise InputError(f"{self.whole.name}: a state has shape {np.shape(x)}; expected ({size},)")

    def _spans(self) -> list[tuple[int, slice]]:
        """Body of the whole, and where the steps of its pair stand in the split; both in file order."""
        spans: list[tuple[int, slice]] = []
        start = 0
        for i in self.whole.in_order:
            size = self.whole.body[i].pair.nv
            spans.append((i, slice(start, start + size)))
            start += size
        return spans
