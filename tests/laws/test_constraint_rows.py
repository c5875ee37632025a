"""Rows of every kind of constraint: ψ is the rate of φ, A q̈ − b the rate of ψ, and multipliers do no work.

The mechanism has two branches with joints of six kinds, marks are put at random. Rates are taken by complex step
along a motion with any q̇ and q̈; the constraints need not be obeyed for that. But a row of a loop is twice the
tangent of half an angle: it grows without bound towards half a turn, and its rounding with it. So of all random
states those are taken in which no row of a loop is STEEP.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count, islice
from typing import NamedTuple

import numpy as np
import pytest

import zoo
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Configuration, Constraint, Motion
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.loop import LoopClosure
from kinpair.description import constraint_parts as c
from kinpair.description.parts import GROUND, Description
from kinpair.formulations import kinematics
from kinpair.model.build import build
from kinpair.model.model import Place
from kinpair.pairs import PAIRS
from kinpair.spatial.pose import Pose

STEP = 1e-200  # of the complex step: far below rounding, so that the derivative is exact to it
EXACT = 1e-12  # rounding of a few hundred operations, against the size of what is compared
STEEP = 20.0  # the slope of 2 tan(θ/2) is 1 at θ = 0 and 20 at θ = 154°
NOW = 0.3
TREE = (  # name, kind, parent, child
    ("turn", "revolute", GROUND, "a"),
    ("ball", "spherical", "a", "b"),
    ("cross", "universal", "b", "c"),
    ("float", "free", GROUND, "d"),
    ("sleeve", "cylindrical", "d", "e"),
    ("slide", "planar", "e", "f"),
)
LOOPS = [kind for kind in PAIRS if kind != "free"]


def support(u):
    """A ball of radius 0.4 about a point beside the mark, as a user would write it."""
    return 0.1 * u[0] - 0.2 * u[2] + 0.4 * np.sqrt(u @ u)


def constraints() -> list[c.ConstraintPart]:
    rng = np.random.default_rng(17)

    def marks(parent: str = "c") -> dict:
        return {
            "parent": parent,
            "child": "f",
            "origin": zoo.origin(rng),
            "child_origin": zoo.origin(rng),
        }

    results: list[c.ConstraintPart] = []
    for kind in LOOPS:
        axis = zoo.three(rng)
        across = tuple(np.cross(axis, zoo.three(rng)).tolist())
        more = {"axis": axis, "axis2": across if kind == "universal" else None}
        results.append(c.Loop(kind, kind, pitch=0.3 if kind == "helical" else 0.0, **more, **marks()))
    tilted = zoo.three(rng)
    shapes = {
        "disk": ("disk", (0.3,)),
        "ball": ("ball", (0.3,)),
        "ellipsoid": ("ellipsoid", (0.2, 0.3, 0.4)),
        "wheel": ("wheel", (0.3, 0.05)),
        "support function": (support, ()),
    }
    results += [
        c.Rolling(f"rolling {x}", shape=s, size=n, axis=tilted, **marks()) for x, (s, n) in shapes.items()
    ]
    return [
        *results,
        c.Rolling("omni-wheel", shape="disk", size=(0.3,), axis=tilted, rollers=0.0, **marks()),
        c.Rolling("mecanum", shape="disk", size=(0.3,), axis=tilted, rollers=0.7, normal=False, **marks()),
        c.Rolling("on the ground", shape="disk", size=(0.3,), axis=tilted, **marks(GROUND)),
        c.Distance("distance", length=0.7, **marks()),
        c.OnSurface("surface", formulas=("x**2 + sin(y)*z - exp(0.1*x*y)",), **marks()),
        c.OnSurface("curve", formulas=("x - 0.2*cos(4*z)", lambda x, y, z: y - x * z**3), **marks()),
        c.KnifeEdge("knife edge", "f", tilted, "c", zoo.origin(rng)),
        c.Drive("drive", "cross.angle2", "0.5*sin(2*t) + t**3"),
        c.Guide("guide", "c", "f", ("0.1*cos(t)", "", "t**2"), ("0.1*t", "sin(t)", "0.3"), zoo.origin(rng)),
        c.Momentum("angular momentum", "angular", tilted, 0.4),
        c.Momentum("linear momentum", "linear", tilted, -0.2),
        c.Coupling("coupling", "turn", (("slide.x", (0.3, -0.2, 0.7)), ("sleeve.angle", (2.0,))), 0.1),
        c.Custom("phi", phi=lambda q, t: [q[0] * q[5] - np.sin(t) * q[3], np.cos(q[2] + t)]),
        c.Custom("psi", psi=lambda q, qd, t: qd[0] * np.cos(q[1]) * t - qd[4] * qd[5] + q[3]),
        c.Custom(
            "A",
            A=lambda q, t: [[q[0], *[0.0] * 15, t], [0.0, q[4] ** 2, *[1.0] * 15]],
            a=lambda q, t: [t, q[9]],
        ),
    ]


def model_of():
    rng = np.random.default_rng(3)
    links = tuple(zoo.link(rng, name) for name in "abcdef")
    joints = tuple(zoo.joint(rng, *x) for x in TREE)
    return build(Description("two branches", links, joints, constraints=tuple(constraints())))


MODEL = model_of()
EVERY = constraints_of(MODEL)
HOLONOMIC = [x for x in EVERY if x.holonomic]
JOINED = [x for x in EVERY if isinstance(x, Joined)]


class Moving:
    """A state, an acceleration, and rates along the motion they make."""

    def __init__(self, seed: int) -> None:
        from kinpair.mechanism import Mechanism

        self.q, self.qd, self.qdd = vars(zoo.motion(Mechanism(MODEL, compiled=False), seed)).values()
        self.step = 1j * STEP

    def rate(self, f):
        q = self.q + self.step * kinematics.dq_dt(MODEL, self.q, self.qd)
        return np.imag(numbers(f(q, self.qd + self.step * self.qdd, NOW + self.step))) / STEP


def numbers(x) -> np.ndarray:
    return np.array(x, dtype=complex)


def at(q, qd, time=NOW) -> Motion:
    return Motion(MODEL, q, time, qd)


def steepest(moving: Moving) -> float:
    """The largest entry in the rows of any loop."""
    here = at(moving.q, moving.qd)
    return max(np.abs(x.matrix(here)).max() for x in JOINED if isinstance(x, LoopClosure))


REGULAR = tuple(islice((seed for seed in count(1) if steepest(Moving(seed)) < STEEP), 2))


@pytest.fixture(params=REGULAR)
def moving(request) -> Moving:
    return Moving(request.param)


def close(found, expected) -> bool:
    return zoo.relative_error(np.array(found, dtype=float), np.array(expected, dtype=float)) < EXACT


def test_every_kind_of_constraint_takes_part():
    assert {type(x) for x in MODEL.description.constraints} == set(c.ConstraintPart.__args__)
    assert len({x.name for x in EVERY}) == len(EVERY)


@pytest.mark.parametrize("x", HOLONOMIC, ids=lambda x: x.name)
def test_rows_of_rates_are_the_rate_of_the_rows_of_positions(x: Constraint, moving: Moving):
    psi = x.rows(at(moving.q, moving.qd)).psi
    rate = moving.rate(lambda q, qd, t: x.positions(Configuration(MODEL, q, t)))
    assert close(psi[: x.holonomic], rate)


@pytest.mark.parametrize("x", HOLONOMIC, ids=lambda x: x.name)
def test_matrix_is_the_slope_of_the_positions(x: Constraint, moving: Moving):
    A = x.matrix(at(moving.q, moving.qd))
    columns = []
    for unit in np.eye(MODEL.nv):
        q = moving.q + 1j * STEP * kinematics.dq_dt(MODEL, moving.q, unit)
        columns.append(np.imag(numbers(x.positions(Configuration(MODEL, q, NOW)))) / STEP)
    assert close(A[: x.holonomic], np.array(columns).T)


@pytest.mark.parametrize("x", EVERY, ids=lambda x: x.name)
def test_matrix_is_the_slope_of_the_rates(x: Constraint, moving: Moving):
    A, _, _ = x.rows(at(moving.q, moving.qd))
    columns = [
        np.imag(numbers(x.rows(at(moving.q, moving.qd + 1j * STEP * unit)).psi)) / STEP
        for unit in np.eye(MODEL.nv)
    ]
    assert close(A, np.array(columns).T)


@pytest.mark.parametrize("x", EVERY, ids=lambda x: x.name)
def test_rows_of_accelerations_are_the_rate_of_the_rows_of_rates(x: Constraint, moving: Moving):
    A, _, b = x.rows(at(moving.q, moving.qd))
    rate = moving.rate(lambda q, qd, t: x.rows(at(q, qd, t)).psi)
    assert close(A @ moving.qdd - b, rate)


@pytest.mark.parametrize("x", EVERY, ids=lambda x: x.name)
def test_rows_have_as_many_names_as_they_are(x: Constraint, moving: Moving):
    A, psi, b = x.rows(at(moving.q, moving.qd))
    assert A.shape == (len(x.row_names), MODEL.nv)
    assert len(psi) == len(b) == len(A)
    assert len(x.positions(at(moving.q, moving.qd))) == x.holonomic


@pytest.mark.parametrize("x", [x for x in EVERY if x.kind.endswith("loop")], ids=lambda x: x.name)
def test_a_loop_holds_what_its_pair_takes_away(x: Constraint):
    assert len(x.labels) == 6 - x.pair.nv  # type: ignore[attr-defined]


@pytest.mark.parametrize("x", [x for x in JOINED if isinstance(x, LoopClosure)], ids=lambda x: x.name)
def test_rows_of_length_grow_with_the_mechanism_and_others_stay(x: LoopClosure, moving: Moving):
    S, M = (at(moving.q, moving.qd).pose(place) for place in x.places(MODEL))
    pair = replace(x.pair, pitch=3.0 * x.pair.pitch) if x.name == "helical" else x.pair  # type: ignore[attr-defined]
    grown = replace(x, pair=pair).phi(Pose(S.R, 3.0 * S.a), Pose(M.R, 3.0 * M.a), NOW)
    assert close(grown, np.where(x.of_length, 3.0, 1.0) * x.phi(S, M, NOW))


@pytest.mark.parametrize("x", JOINED, ids=lambda x: x.name)
def test_wrenches_do_no_work_in_a_common_motion_of_both_bodies(x: Joined, moving: Moving):
    S, M = (at(moving.q, moving.qd).pose(place) for place in x.places(MODEL))
    W = x.wrenches(S, M, NOW)
    omega, v = moving.qd[:3], moving.qd[3:6]
    together = np.concatenate([omega, v + np.cross(omega, M.a - S.a)])
    assert close(W.S @ np.concatenate([omega, v]) + W.M @ together, np.zeros(len(x.labels)))


@pytest.mark.parametrize("x", JOINED, ids=lambda x: x.name)
def test_matrix_is_the_wrenches_through_the_jacobians_of_both_frames(x: Joined, moving: Moving):
    here = at(moving.q, moving.qd)
    S, M = x.places(MODEL)
    W = x.wrenches(here.pose(S), here.pose(M), NOW)
    J_S, J_M = (kinematics.jacobian(MODEL, moving.q, place) for place in (S, M))
    assert close(x.matrix(here), W.S @ J_S + W.M @ J_M)


def lowest(name: str, u: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The point of a shape farthest along u, from the geometry of the shape."""
    across = u - (axis @ u) * axis
    rim = across / np.linalg.norm(across)
    semi = np.array([0.2, 0.3, 0.4])
    return {
        "disk": 0.3 * rim,
        "ball": 0.3 * u,
        "ellipsoid": semi**2 * u / np.linalg.norm(semi * u),
        "wheel": 0.3 * rim + 0.05 * u,
        "support function": np.array([0.1, 0, -0.2]) + 0.4 * u,
    }[name]


class Seen(NamedTuple):
    """A place in motion: pose and twist at its origin, in world axes."""

    pose: Pose
    t: np.ndarray


def observed(moving: Moving, place: Place) -> Seen:
    J = kinematics.jacobian(MODEL, moving.q, place)
    return Seen(at(moving.q, moving.qd).pose(place), np.array(J, dtype=float) @ moving.qd)


@pytest.mark.parametrize("x", [x for x in JOINED if x.kind == "rolling"], ids=lambda x: x.name)
def test_rows_of_slip_are_the_velocity_of_the_point_that_touches(x, moving: Moving):
    """Of the material point of the body, less that of the material point of the plane at the same place."""
    S, M = (observed(moving, place) for place in x.places(MODEL))
    name = x.name.removeprefix("rolling ").replace("on the ground", "disk")
    rho = M.pose.R @ lowest(name, -(M.pose.R.T @ S.pose.R[:, 2]), x.axis)
    touching = M.pose.a + rho
    slip = (M.t[3:] + np.cross(M.t[:3], rho)) - (S.t[3:] + np.cross(S.t[:3], touching - S.pose.a))
    assert close(x.rows(at(moving.q, moving.qd)).psi, S.pose.R.T[[2, 0, 1]] @ slip)


def test_rows_of_a_knife_edge_are_the_velocity_across_it(moving: Moving):
    blade = next(x for x in JOINED if x.name == "knife edge")
    S, M = (observed(moving, place) for place in blade.places(MODEL))
    across = M.pose.R @ blade.axis  # type: ignore[attr-defined]
    seen = M.t[3:] - S.t[3:] - np.cross(S.t[:3], M.pose.a - S.pose.a)
    assert close(blade.rows(at(moving.q, moving.qd)).psi, [across @ seen])


def test_free_rollers_hold_along_their_axis_alone(moving: Moving):
    """Wheel on rollers at an angle: the slip along the rim's tangent turned by it in the plane."""
    for name, angle in (("omni-wheel", 0.0), ("mecanum", 0.7)):
        x = next(x for x in JOINED if x.name == name)
        S, M = (observed(moving, place) for place in x.places(MODEL))
        n, axle = S.pose.R[:, 2], M.pose.R @ x.axis  # type: ignore[attr-defined]
        rim = np.cross(axle, n) / np.linalg.norm(np.cross(axle, n))
        along = np.cos(angle) * rim + np.sin(angle) * np.cross(n, rim)
        rho = M.pose.R @ lowest("disk", -(M.pose.R.T @ n), x.axis)  # type: ignore[attr-defined]
        arm = M.pose.a + rho - S.pose.a
        slip = M.t[3:] + np.cross(M.t[:3], rho) - S.t[3:] - np.cross(S.t[:3], arm)
        assert close(x.rows(at(moving.q, moving.qd)).psi[-1:], [along @ slip])


def test_momentum_that_keeps_an_unknown_value_has_the_same_rows_and_no_residual(moving: Moving):
    known = next(x for x in EVERY if x.name == "angular momentum")
    kept = constraints_of(
        build(
            Description(
                "kept",
                MODEL.description.links,
                MODEL.description.joints,
                constraints=(c.Momentum("m", "angular", tuple(known_axis()), None),),
            )
        )
    )[0]
    A, psi, b = kept.rows(at(moving.q, moving.qd))
    expected = known.rows(at(moving.q, moving.qd))
    assert close(A, expected.A)
    assert close(b, expected.b)
    assert psi.tolist() == [0.0]


def known_axis() -> tuple[float, float, float]:
    return next(x.axis for x in MODEL.description.constraints if x.name == "angular momentum")


@pytest.mark.parametrize("kind", [x for x in LOOPS if x != "fixed"])
def test_a_loop_allows_every_motion_of_its_pair_and_none_else(kind: str):
    """A joint of the kind, closed by a loop of the same kind at the same place: no row has anything to say."""
    rng = np.random.default_rng(5)
    joint = zoo.joint(rng, "j", kind, GROUND, "a")
    own = {"parent": GROUND, "child": "a", "origin": joint.origin, "child_origin": undone(joint.child_origin)}
    loop = c.Loop("loop", kind, axis=joint.axis, axis2=joint.axis2, pitch=joint.pitch, **own)
    model = build(Description("one", (zoo.link(rng, "a"),), (joint,), constraints=(loop,)))
    from kinpair.mechanism import Mechanism

    s = zoo.motion(Mechanism(model, compiled=False), 4)
    x = constraints_of(model)[0]
    A, psi, b = x.rows(Motion(model, s.q, 0.0, s.qd))
    for result in (x.positions(Configuration(model, s.q, 0.0)), A, psi, b):
        assert np.abs(result).max() < 1e-13


def undone(origin):
    """Where the moved joint frame sits in the child, whose frame sits at `origin` in it."""
    from kinpair.description.parts import Origin

    pose = origin.pose()
    return Origin(tuple((-pose.R.T @ pose.a).tolist()), tuple(pose.R.T.ravel().tolist()))
