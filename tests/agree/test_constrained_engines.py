"""Closed mechanisms against Pinocchio, Exudyn and MuJoCo: the same accelerations, forces and closed positions.

Relative error: max|Δ| / max(1, max|reference|) ≤ 1e-9 where the other engine solves the same equations to rounding,
100·eps·cond where a matrix of the reference is worse conditioned than that. What is wider is explained where it stands.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import exudyn
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from benchmarks.constrained_rivals import InMujoco, InPinocchio, on_the_ground
from exudyn.itemInterface import (
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerNodeCoordinate,
    NodePointGround,
    NodeRigidBody2D,
    ObjectConnectorCoordinate,
    ObjectGround,
    ObjectJointRevolute2D,
    ObjectRigidBody2D,
)

import closed
import kinpair as kp
import zoo
from kinpair import conventions
from robots import urdf_files

TOLERANCE = 1e-9
EPS = np.finfo(float).eps
LOOPED = ["four-bar", "slider-crank", "five-bar", "three-rrr", "stewart"]
STATES = 5
PROXIMAL = (1e-8, 20)  # of Pinocchio, whose factors need it where rows are redundant; it iterates to rounding
REST = slice(0, 1)
STEP = 1e-5  # of differences


@dataclass(frozen=True, eq=False)
class Motions:
    """A mechanism with its loops closed in several states (n, ...), the first at rest; efforts at random."""

    m: kp.Mechanism
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray

    @property
    def qdd(self) -> np.ndarray:
        return self.m.forward_dynamics(self.q, self.qd, self.tau)


def motions(m: kp.Mechanism, start: np.ndarray, seed: int = 3, spread: float = 0.05) -> Motions:
    rng = np.random.default_rng(seed)
    q = np.stack([m.assemble(start + rng.uniform(-spread, spread, m.nq)) for _ in range(STATES)])
    qd = np.stack([m.velocities(x, guess=rng.uniform(-1, 1, m.nv)) for x in q])
    qd[REST] = 0.0
    return Motions(m, q, qd, rng.uniform(-1, 1, (STATES, m.nv)))


@cache
def closed_motions(name: str) -> Motions:
    """Bundled mechanisms; Stewart's platform hangs on the world's origin, as in MuJoCo."""
    m, start = on_the_ground(kp.example(name)), closed.start(name)
    if name == "stewart":
        start[2] = 0.6
    return motions(m, start)


# Pinocchio: constrained dynamics by proximal iterations, loops as points of two joints that coincide.


@pytest.mark.parametrize("name", LOOPED)
def test_accelerations_are_those_of_pinocchio(name):
    x = closed_motions(name)
    theirs = InPinocchio.of(x.m, *PROXIMAL)
    s = theirs.convention(x.m).state(x.q, x.qd, x.qdd, x.tau)
    for q, v, a, tau in zip(s.q, s.v, s.a, s.tau, strict=True):
        assert zoo.relative_error(a, theirs(q, v, tau)) <= TOLERANCE


@pytest.mark.parametrize("solver", ["udwadia-kalaba", "rosenberg-extended", "maggi", "partition", "screw"])
def test_every_solver_gives_the_accelerations_of_pinocchio(solver):
    x = closed_motions("stewart")
    theirs = InPinocchio.of(x.m, *PROXIMAL)
    qdd = x.m.reference.forward_dynamics(x.q[-1], x.qd[-1], x.tau[-1], solver=solver)
    s = theirs.convention(x.m).state(x.q[-1], x.qd[-1], qdd, x.tau[-1])
    assert zoo.relative_error(s.a, theirs(s.q, s.v, s.tau)) <= TOLERANCE


def test_forces_in_the_balls_of_the_stewart_platform_are_those_of_pinocchio():
    """Force on the platform, by the child of the loop; Pinocchio gives that on the rod, in axes of the rod."""
    x = closed_motions("stewart")
    theirs = InPinocchio.of(x.m, *PROXIMAL)
    s = theirs.convention(x.m).state(x.q, x.qd, tau=x.tau)
    for k in range(STATES):
        theirs(s.q[k], s.v[k], s.tau[k])
        result = x.m.constraint_forces(x.q[k], x.qd[k], x.tau[k])
        assert result.unique
        for ball, rod in zip(result.wrenches, theirs.constraint_data, strict=True):
            on_rod = rod.oMc1.rotation @ rod.contact_force.linear
            assert zoo.relative_error(result.wrenches[ball][3:], -on_rod) <= TOLERANCE


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "five-bar"])
def test_derivatives_are_those_of_pinocchio(name):
    """∂q̈/∂τ; and ∂q̈/∂q at rest along motions that keep the loops closed, against central differences.

    Elsewhere rows may be written in other axes, which makes no difference where they hold. Where rows are redundant,
    as here, Pinocchio 4.1's own ∂a/∂q is not what its accelerations change by.
    """
    x = closed_motions(name)
    theirs = InPinocchio.of(x.m, *PROXIMAL)
    c = theirs.convention(x.m)
    s = c.state(x.q[0], x.qd[0], tau=x.tau[0])
    theirs(s.q, s.v, s.tau)
    args = (theirs.model, theirs.data, theirs.constraints, theirs.constraint_data, theirs.settings)
    by_tau = pin.computeConstraintDynamicsDerivatives(*args)[2]
    own = x.m.forward_dynamics_derivatives(x.q[0], x.qd[0], x.tau[0])
    T = np.stack([c.state(x.q[0], unit).v for unit in np.eye(x.m.nv)], axis=1)
    assert zoo.relative_error(T @ own.tau @ T.T, by_tau) <= TOLERANCE
    rows = x.m.constraint_matrix(x.q[0])
    Z = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows) :]

    def moved(step: np.ndarray) -> np.ndarray:
        return np.array(theirs(pin.integrate(theirs.model, s.q, step), s.v, s.tau))

    differences = [(moved(STEP * T @ z) - moved(-STEP * T @ z)) / (2.0 * STEP) for z in Z]
    for z, difference in zip(Z, differences, strict=True):
        assert zoo.relative_error(T @ own.q @ z, difference) <= 1e4 * STEP**2  # ∂³q̈/∂q³ / 6 of ∂q̈/∂q


# URDF mimic joints, in Pinocchio coordinates that are left out.


@pytest.mark.filterwarnings("ignore::kinpair.LimitWarning")  # any state will do, also one beyond limits
@pytest.mark.parametrize("robot", ["panda/panda", "baxter/baxter", "tiago_pro/tiago_pro"])
def test_mimic_joints_move_as_in_pinocchio(robot):
    """Pinocchio's reduced H a + h = Gᵀτ, q̇ = G v, against rows that hold the mimic joints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        ours = kp.load(urdf_files()[robot])
    theirs = pin.buildModelFromUrdf(str(urdf_files()[robot]), True)
    data = theirs.createData()
    free = [k for k in range(1, theirs.njoints) if theirs.nvs[k]]
    v = np.array([ours.v_names.index(theirs.names[k]) for k in free])
    rng = np.random.default_rng(5)
    guess = rng.uniform(-0.5, 0.5, ours.nq)
    q = ours.reference.assemble(guess, fixed=[ours.v_names[k] for k in v])
    qd = ours.reference.velocities(
        q, dict(zip([ours.v_names[k] for k in v], rng.uniform(-1, 1, len(v)), strict=True))
    )
    tau = rng.uniform(-1, 1, ours.nv)
    their_q = np.concatenate([_turned(theirs.nqs[k], q[i]) for k, i in zip(free, v, strict=True)])
    H = np.triu(pin.crba(theirs, data, their_q))
    H = H + np.triu(H, 1).T
    h = pin.rnea(theirs, data, their_q, qd[v], np.zeros(len(v)))
    G = np.stack([_rates(ours, q, v, k) for k in range(len(v))], axis=1)
    a = np.linalg.solve(H, G.T @ tau - h)
    qdd = ours.reference.forward_dynamics(q, qd, tau, passive=False)
    assert len(v) < ours.nv
    assert zoo.relative_error(qdd[v], a) <= max(TOLERANCE, 100 * EPS * np.linalg.cond(H))
    assert zoo.relative_error(qdd, G @ qdd[v]) <= TOLERANCE


def _turned(nq: int, q: float) -> np.ndarray:
    return np.array([np.cos(q), np.sin(q)]) if nq == 2 else np.array([q])


def _rates(m: kp.Mechanism, q: np.ndarray, v: np.ndarray, k: int) -> np.ndarray:
    """Rates of all joints while the free one of number k moves at one."""
    return m.reference.velocities(q, {m.v_names[i]: float(i == v[k]) for i in v})


# Exudyn: every body with its own coordinates, every pin a constraint, accelerations of its own start of a simulation.


@dataclass(frozen=True)
class Rod:
    """A body in the plane: its link and the pins on it, in axes of the link."""

    link: str
    pins: dict[str, tuple[float, float]]


PLANAR = {  # rods, and pins on the ground
    "four-bar": (
        [
            Rod("crank", {"A": (0.0, 0.0), "B": (0.05, 0.0)}),
            Rod("output", {"D": (0.0, 0.0), "C": (0.13, 0.0)}),
            Rod("coupler", {"C": (0.0, 0.0), "B": (0.1, 0.0)}),
        ],
        {"A": (0.0, 0.0), "D": (0.15, 0.0)},
    ),
    "slider-crank": (
        [
            Rod("crank", {"A": (0.0, 0.0), "B": (0.05, 0.0)}),
            Rod("rod", {"B": (0.0, 0.0), "C": (0.13, 0.0)}),
            Rod("piston", {"C": (0.0, 0.0)}),
        ],
        {"A": (0.0, 0.0)},
    ),
}
GUIDED = {"slider-crank": "piston"}  # moves along x only


@dataclass(frozen=True, eq=False)
class Start:
    """(ẍ, ÿ, φ̈) of the mass centre of every rod, force in every pin, and the step by which rows are differentiated."""

    accelerations: dict[str, np.ndarray]
    forces: dict[str, np.ndarray]
    step: float


def exudyn_start(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray) -> Start:
    """How Exudyn starts a simulation in this state."""
    rods, grounded = PLANAR[m.name]
    system = exudyn.SystemContainer().AddSystem()
    ground = system.AddObject(ObjectGround())
    ends: dict[str, list[Any]] = {
        pin: [system.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=[*xy, 0.0]))]
        for pin, xy in grounded.items()
    }
    links = {link.name: link for link in m.model.description.links}
    for rod in rods:
        link, at = links[rod.link], m.pose(q, rod.link)
        com = np.array(link.com)
        J = m.jacobian(q, rod.link)
        omega, velocity = J[2] @ qd, J[3:] @ qd + np.cross(J[:3] @ qd, at.rotation @ com)
        centre, angle = at.position + at.rotation @ com, np.arctan2(at.rotation[1, 0], at.rotation[0, 0])
        node = system.AddNode(
            NodeRigidBody2D(
                referenceCoordinates=[*centre[:2], angle], initialVelocities=[*velocity[:2], omega]
            )
        )
        body = system.AddObject(
            ObjectRigidBody2D(mass=link.mass, inertia=link.tensor()[2, 2], nodeNumber=node)
        )
        weight = system.AddMarker(MarkerBodyMass(bodyNumber=body))
        system.AddLoad(LoadMassProportional(markerNumber=weight, loadVector=list(m.model.gravity)))
        for pin_name, xy in rod.pins.items():
            marker = MarkerBodyPosition(bodyNumber=body, localPosition=[xy[0] - com[0], xy[1] - com[1], 0.0])
            ends.setdefault(pin_name, []).append(system.AddMarker(marker))
        if GUIDED.get(m.name) == rod.link:
            for coordinate in (1, 2):
                fixed = MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate)
                nothing = system.AddNode(NodePointGround())
                still = MarkerNodeCoordinate(nodeNumber=nothing, coordinate=0)
                markers = [system.AddMarker(still), system.AddMarker(fixed)]
                system.AddObject(ObjectConnectorCoordinate(markerNumbers=markers))
    for markers in ends.values():
        system.AddObject(ObjectJointRevolute2D(markerNumbers=markers))
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.solution.file.write = False
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    solver = exudyn.MainSolverImplicitSecondOrder()
    solver.InitializeSolver(system, settings)
    a = np.array(system.systemData.GetODE2Coordinates_tt())
    pins = np.array(system.systemData.GetAECoordinates())[-2 * len(ends) :].reshape(-1, 2)
    solver.FinalizeSolver(system, settings)
    step = settings.timeIntegration.newton.numericalDifferentiation.relativeEpsilon
    by_rod = {rod.link: a[3 * k : 3 * k + 3] for k, rod in enumerate(rods)}
    return Start(by_rod, dict(zip(ends, pins, strict=True)), step)


@pytest.mark.parametrize("name", PLANAR)
def test_a_simulation_of_exudyn_starts_with_the_same_accelerations(name):
    x = closed_motions(name)
    for k in range(STATES):
        theirs = exudyn_start(x.m, x.q[k], x.qd[k])
        qdd = x.m.forward_dynamics(x.q[k], x.qd[k], np.zeros(x.m.nv))
        for link, a in theirs.accelerations.items():
            J, Jd = x.m.jacobian(x.q[k], link), x.m.jacobian_rate(x.q[k], x.qd[k], link)
            td = J @ qdd + Jd @ x.qd[k]
            omega = J[2] @ x.qd[k]
            arm = x.m.pose(x.q[k], link).rotation @ np.array(_com(x.m, link))
            centre = td[3:5] + td[2] * np.array([-arm[1], arm[0]]) - omega**2 * arm[:2]
            assert zoo.relative_error(np.array([*centre, td[2]]), a) <= (theirs.step if k else TOLERANCE)


def _com(m: kp.Mechanism, link: str) -> Any:
    return next(x.com for x in m.model.description.links if x.name == link)


PINS = {  # ours by theirs: their force acts on the first of the two bodies
    "four-bar": {"A": "crank", "D": "output", "B": "pin", "C": "coupler"},
    "slider-crank": {"A": "crank", "B": "rod", "C": "pin"},
}


@pytest.mark.parametrize("name", PLANAR)
def test_forces_in_the_pins_are_those_of_exudyn(name):
    """The multipliers with which it starts a simulation; the last ones of its list, two a pin."""
    x = closed_motions(name)
    theirs = exudyn_start(x.m, x.q[0], x.qd[0])
    still = np.zeros(x.m.nv)
    qdd = x.m.forward_dynamics(x.q[0], x.qd[0], still)
    found = x.m.reactions(x.q[0], x.qd[0], qdd, tau=still, axes="world")
    for pin_name, joint in PINS[name].items():
        assert zoo.relative_error(found[joint][3:5], -theirs.forces[pin_name]) <= TOLERANCE


# MuJoCo: its own mass matrix, bias, rows and what they ask for, solved here without its softness.


def hard(model: Any, data: Any, tau: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """a of H a + h = τ + Jᵀλ, J a = wanted with MuJoCo's H, h and J: what its own a tends to as it hardens."""
    H = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, H)
    J = data.efc_J.reshape(data.nefc, model.nv)
    free, W = np.linalg.solve(H, tau - data.qfrc_bias), np.linalg.solve(H, J.T)
    return free + W @ (np.linalg.pinv(J @ W, rcond=1e-11, hermitian=True) @ (wanted - J @ free))


def at(model: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Any:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(model, data)
    return data


@pytest.mark.parametrize("name", LOOPED)
def test_loops_are_closed_in_mujoco_and_accelerations_are_its_own(name):
    x = closed_motions(name)
    theirs = InMujoco.of(x.m)
    s = theirs.convention(x.m).state(x.q, x.qd, x.qdd, x.tau)
    for q, v, a, tau in zip(s.q, s.v, s.a, s.tau, strict=True):
        data = at(theirs.model, q, v, tau)
        assert np.abs(data.efc_pos).max() <= 1e-12
        assert np.abs(data.efc_vel).max() <= 1e-12
        assert zoo.relative_error(a, hard(theirs.model, data, tau, data.efc_aref)) <= TOLERANCE


@pytest.mark.parametrize("name", LOOPED)
def test_forward_dynamics_of_mujoco_tends_to_ours_as_it_hardens(name):
    """MuJoCo adds (1 − d)/d of its diagonal to J H⁻¹ Jᵀ, d the impedance; so its error goes down with 1 − d."""
    x = closed_motions(name)
    errors = []
    for softness in (1e-2, 1e-3):
        theirs = InMujoco.of(x.m, 1.0 - softness)
        s = theirs.convention(x.m).state(x.q[-1], x.qd[-1], x.qdd[-1], x.tau[-1])
        errors.append(zoo.relative_error(s.a, at(theirs.model, s.q, s.v, s.tau).qacc))
    assert errors[0] <= 1.0
    assert errors[1] == pytest.approx(0.1 * errors[0], rel=0.3)


def rows_along(model: Any, q: np.ndarray, v: np.ndarray, step: float) -> np.ndarray:
    """J a step along the motion."""
    there = q.copy()
    mujoco.mj_integratePos(model, there, v, step)
    data = at(model, there, v, np.zeros(model.nv))
    return data.efc_J.reshape(data.nefc, model.nv)


HEAD = """<mujoco><option><flag contact="disable"/></option><default><geom type="capsule" size=".02"/></default>
  <worldbody>"""
EQUALITIES = {
    "connect": """
        <body name="a" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom fromto="0 0 0 .3 0 0"/>
          <body name="b" pos=".3 0 0"><joint name="b" type="ball"/><geom fromto="0 0 0 0 0 -.5"/>
          </body></body>
        <body name="c" pos=".5 0 1"><joint name="c" axis=".1 1 0"/><geom type="box" size=".2 .03 .02" pos="-.1 0 -.1"/>
        </body>
      </worldbody><equality><connect body1="b" body2="c" anchor="0 0 -.4"/>""",
    "weld": """
        <body name="a" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom fromto="0 0 0 .3 0 0"/>
          <body name="b" pos=".3 0 0"><joint name="b" axis="1 0 0"/><geom type="box" size=".1 .05 .02" pos=".1 0 0"/>
          </body></body>
        <body name="c" pos=".6 .1 .9" euler="10 20 30"><freejoint name="c"/><geom type="box" size=".1 .03 .02"/></body>
      </worldbody><equality><weld body1="b" body2="c"/>""",
    "joint": """
        <body name="a" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom fromto="0 0 0 .3 0 0"/>
          <body name="b" pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom type="box" size=".1 .05 .02" pos=".1 0 0"/>
            <body name="c" pos=".2 0 0"><joint name="c" type="slide" axis="1 0 0"/><geom size=".1" type="sphere"/>
            </body>
          </body></body>
      </worldbody><equality><joint joint1="b" joint2="a" polycoef=".1 .5 .3 -.2 .1"/>
        <joint joint1="c" joint2="b" polycoef="0 -.2"/>""",
    "connect and joint": """
        <body name="a"><joint name="a" axis="0 1 0"/><geom fromto="0 0 0 0 0 .3"/>
          <body name="b" pos="0 0 .3"><joint name="b" axis="0 1 0"/><geom fromto="0 0 0 .5 0 0"/>
          </body></body>
        <body name="c" pos=".5 0 0"><joint name="c" axis="0 1 0"/><geom fromto="0 0 0 0 0 .3"/>
        </body>
        <body name="d" pos="1 0 0"><joint name="d" axis="0 1 0"/><geom fromto="0 0 0 0 0 .3"/>
        </body>
      </worldbody><equality><connect body1="b" body2="c" anchor=".5 0 0"/>
        <joint joint1="d" joint2="c" polycoef="0 -1.5"/>""",
}


@pytest.mark.parametrize("name", EQUALITIES)
def test_equalities_of_a_file_are_assembled_and_in_force_as_in_mujoco(name, tmp_path):
    """From a guess that gapes: what is assembled is closed in MuJoCo's own kinematics, and moves by MuJoCo's own rows.

    Their −J̇v is taken from differences of J, since MuJoCo 4.0 leaves it out of couplings of joints.
    """
    text = f"{HEAD}{EQUALITIES[name]}</equality></mujoco>"
    (tmp_path / "test.xml").write_text(text)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "test.xml"))
    ours = kp.load(tmp_path / "test.xml").reference
    c = conventions.mujoco(ours, conventions.mujoco_layout(model))
    x = motions(ours, c.from_state(model.qpos0).q, spread=0.1)
    for k in range(STATES):
        s = c.state(
            x.q[k], x.qd[k], ours.forward_dynamics(x.q[k], x.qd[k], x.tau[k], passive=False), x.tau[k]
        )
        data = at(model, s.q, s.v, s.tau)
        assert data.nefc == len(ours.constraint_rows)
        assert np.abs(data.efc_pos).max() <= 1e-12
        assert np.abs(data.efc_vel).max() <= 1e-12
        ahead, behind = (rows_along(model, s.q, s.v, step) for step in (STEP, -STEP))
        wanted = (behind - ahead) @ s.v / (2.0 * STEP)
        assert zoo.relative_error(s.a, hard(model, data, s.tau, wanted)) <= 100.0 * STEP**2
