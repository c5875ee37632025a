"""Laws of mechanisms under constraints: multipliers do no work, energy goes where efforts put it, loops stay closed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closed
import kinpair as kp
import zoo
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Motion
from kinpair.constraints.rows.joined import Joined
from kinpair.description import constraint_parts as c
from kinpair.formulations import kinematics

EXAMPLES = tuple(closed.STARTS)
STEP = 1e-200
FREEDOM = {  # rates less rank, and Grübler's count
    "four-bar": (1, 0),
    "four-bar-3d": (1, -2),
    "slider-crank": (1, 0),
    "five-bar": (2, 1),
    "bennett": (1, -2),
    "three-rrr": (3, 0),
    "stewart": (6, 6),
    "delta": (3, 3),
    "gripper": (1, -1),
    "space-robot": (2, 2),
    "omni-robot": (3, 3),
    "diff-drive": (2, 1),
    "rolling-disk": (3, 3),
    "bicycle": (3, 3),
}


@cache
def example(name: str) -> kp.Mechanism:
    return kp.example(name).reference


@cache
def state(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates and rates that obey the constraints, and efforts."""
    m, rng = example(name), np.random.default_rng(seed)
    q = m.assemble(closed.start(name))
    step = m.velocities(q, guess=rng.normal(size=m.nv))
    q = m.assemble(kinematics.moved(m.model, q, 0.2 * step / np.abs(step).max()))
    return q, m.velocities(q, guess=rng.normal(size=m.nv)), rng.normal(size=m.nv)


def rate_of_energy(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
    """d/dt of kinetic and potential energy along the motion, by complex step."""
    moved = q + 1j * STEP * m.dq_dt(q, qd)
    moving = qd + 1j * STEP * qdd
    energy = kinematics.kinetic_energy(m.model, moved, moving) + kinematics.potential_energy(m.model, moved)
    return float(np.imag(energy)) / STEP


@pytest.mark.parametrize("name", EXAMPLES)
def test_steady_constraints_do_no_work(name):
    """What the efforts put in is what the energy gains."""
    m = example(name)
    q, qd, tau = state(name)
    if name == "space-robot":
        tau[0] = 0.0  # its momentum is not zero: what holds it against an effort from outside does work
    qdd = m.forward_dynamics(q, qd, tau, passive=False)
    size = np.abs(tau) @ np.abs(qd) + np.abs(m.bias_forces(q, qd)) @ np.abs(qd)
    assert abs(rate_of_energy(m, q, qd, qdd) - tau @ qd) < 1e-11 * max(1.0, size)


@pytest.mark.parametrize("name", [x for x in EXAMPLES if x != "space-robot"])
def test_wrenches_of_the_constraints_do_no_work_on_the_two_bodies_together(name):
    """w · (t_M − t_S at the same point) = 0 for each constraint between two frames, by Jacobians of the tree."""
    m = example(name)
    q, qd, tau = state(name)
    forces, at = m.constraint_forces(q, qd, tau), Motion(m.model, q, 0.0, qd)
    joined = [x for x in constraints_of(m.model) if isinstance(x, Joined)]
    assert set(forces.wrenches) == {x.name for x in joined}
    for x in joined:
        S, M = x.places(m.model)
        t_S, t_M = (kinematics.jacobian(m.model, q, place) @ qd for place in (S, M))
        carried = np.concatenate([t_S[:3], t_S[3:] + np.cross(t_S[:3], at.pose(M).a - at.pose(S).a)])
        w = forces.wrenches[x.name]
        assert abs(w @ (t_M - carried)) < 1e-11 * max(1.0, np.abs(w).max()), x.name


@pytest.mark.parametrize("name", ["four-bar", "bennett", "three-rrr", "delta", "omni-robot", "rolling-disk"])
def test_the_open_tree_under_the_wrenches_moves_as_the_closed_mechanism(name):
    """A second road: constraints cut, their wrenches applied from outside to both bodies."""
    m = example(name)
    q, qd, tau = state(name, seed=1)
    forces = m.constraint_forces(q, qd, tau)
    at = Motion(m.model, q, 0.0, qd)
    loads: dict[str, np.ndarray] = {}
    for x in constraints_of(m.model):
        assert isinstance(x, Joined)
        point = at.pose(x.M.on(m.model)).a
        for mark, sign in ((x.S, -1.0), (x.M, 1.0)):
            n, f = np.split(sign * forces.wrenches[x.name], 2)
            r = point - at.pose(m.model.place(mark.name)).a
            at_origin = np.concatenate([n + np.cross(r, f), f])
            loads[mark.name] = loads.get(mark.name, np.zeros(6)) + at_origin
    loads.pop("ground", None)
    open_tree = m.without_constraints()
    assert open_tree.constraints == ()
    result = open_tree.forward_dynamics(q, qd, tau, external=loads)
    assert zoo.relative_error(result, forces.qdd) < 1e-10


def test_power_of_a_drive_is_its_multiplier_times_its_speed():
    """The energy gains what the efforts and the drive put in: λ · q̇ of the driven joint."""
    m = example("four-bar").with_constraints(c.Drive("motor", "crank", "0.3 + 4*t + 2*t**2"))
    q = m.assemble(closed.start("four-bar"))
    qd = m.velocities(q)
    assert qd[0] == pytest.approx(4.0)
    tau = np.array([0.0, 0.3, -0.2])
    forces = m.constraint_forces(q, qd, tau)
    assert forces.qdd[0] == pytest.approx(4.0)
    assert set(forces.wrenches) == {"pin"}
    power = tau @ qd + forces.multipliers["motor"] * qd[0]
    assert rate_of_energy(m, q, qd, forces.qdd) == pytest.approx(power, rel=1e-11)


@pytest.mark.parametrize("name", ["slider-crank", "bennett", "rolling-disk", "diff-drive"])
def test_energy_gained_in_a_run_is_the_work_done_and_constraints_still_hold(name):
    """To the accuracy of the integration; work is integrated beside the motion.

    Nothing holds the constraints but the accelerations. Bennett's rows are redundant only where it is closed, so
    while the integration leaves it open by a little, they may not fade: its run ends before its links are in line,
    where two rows vanish.
    """
    m = kp.example(name)
    q, qd, tau = state(name)
    tau = 0.05 * tau

    def slope(time: float, x: np.ndarray) -> np.ndarray:
        q, qd = x[: m.nq], x[m.nq : -1]
        return np.concatenate([m.dq_dt(q, qd), m.forward_dynamics(q, qd, tau, passive=False), [tau @ qd]])

    start = np.concatenate([q, qd, [0.0]])
    end = 0.3 if name == "bennett" else 0.5
    run = solve_ivp(slope, (0.0, end), start, method="DOP853", rtol=1e-12, atol=1e-12)
    assert run.success
    q, qd, work = run.y[: m.nq].T, run.y[m.nq : -1].T, run.y[-1]
    energy = sum(m.energy(q, qd))
    size = max(1.0, np.ptp(energy), np.abs(m.energy(q, qd).kinetic).max())
    assert np.abs(energy - energy[0] - work).max() < 1e-9 * size
    assert np.abs(m.constraint_residual(q)).max(initial=0.0) < 1e-9
    for k in (len(q) // 2, -1):
        A, psi, _ = closed.constraints(m, q[k], qd[k])
        assert np.abs(psi).max() < 1e-9
        assert name != "bennett" or np.linalg.norm(A, axis=1).min() > 0.1
    assert np.abs(q - q[0]).max() > 0.01


def test_momentum_is_kept_whatever_the_arms_do():
    """Efforts inside the space robot change no momentum; one from outside is held by the constraint, and named."""
    m = example("space-robot")
    q, qd = np.array([0.3, -0.4, 0.9]), np.array([0.5, -0.7, 0.2])
    for tau in ([0, 1.0, -3.0], [5.0, 0.0, 0.0]):
        qdd = m.forward_dynamics(q, qd, tau)
        moved = kinematics.momentum(m.model, q + 1j * STEP * qd, qd + 1j * STEP * qdd)
        assert np.imag(moved[2]) / STEP == pytest.approx(0.0, abs=1e-12)
    assert m.constraint_forces(q, qd, [0, 1.0, -3.0]).multipliers["momentum"] == pytest.approx(0.0, abs=1e-13)
    fixed = m.constraint_forces(q, qd, [5.0, 0, 0]).multipliers["momentum"]
    assert fixed * m.mass_matrix(q)[0, 0] == pytest.approx(-5.0, abs=1e-12)


# Kinematics.


@pytest.mark.parametrize("name", EXAMPLES)
def test_freedom_is_that_of_the_mechanism_and_the_count_that_of_gruebler(name):
    mobility = example(name).mobility(state(name)[0])
    assert (mobility.freedom, mobility.counted) == FREEDOM[name]
    assert len(mobility.redundant) == mobility.freedom - mobility.counted
    assert not mobility.singular
    assert f"freedom {mobility.freedom}" in str(mobility)


def test_a_parallelogram_that_lies_flat_is_singular():
    """All links along one line: it may stay a parallelogram or become an antiparallelogram."""
    parts = (
        kp.Builder("parallelogram")
        .link("crank", mass=1.0)
        .link("rod", mass=1.0)
        .link("follower", mass=1.0)
        .joint("crank", "revolute", "ground", "crank")
        .joint("rod", "revolute", "crank", "rod", xyz=[1, 0, 0])
        .joint("follower", "revolute", "ground", "follower", xyz=[2, 0, 0])
        .loop("pin", "spherical", "rod", "follower", xyz=[2, 0, 0], child_xyz=[1, 0, 0])
    )
    m = kp.build(parts).reference
    upright, flat = m.mobility([1.0, -1.0, 1.0]), m.mobility([0.0, 0.0, 0.0])
    assert (upright.freedom, upright.singular) == (1, False)
    assert (flat.freedom, flat.singular) == (2, True)
    assert "singular" in str(flat)


@pytest.mark.parametrize("name", EXAMPLES)
def test_assembly_closes_the_loops_from_a_rough_guess_and_leaves_a_closed_one_alone(name):
    m = example(name)
    q = m.assemble(closed.start(name))
    assert np.abs(m.constraint_residual(q)).max(initial=0.0) < 1e-12
    assert np.abs(m.assemble(q) - q).max() < 1e-12
    rough = kinematics.moved(m.model, q, 0.05 * np.cos(np.arange(m.nv)))
    again = m.assemble(rough)
    assert np.abs(m.constraint_residual(again)).max(initial=0.0) < 1e-12
    assert np.abs(again - q).max() < 0.5


def test_assembly_holds_what_is_to_be_held_and_stays_on_its_branch():
    m, start = example("four-bar"), closed.start("four-bar")
    for crank in np.linspace(0, 1.5, 4):
        q = m.assemble([crank, *start[1:]], fixed=("crank",))
        assert q[0] == crank
        assert q[2] > 0  # the coupler's elbow does not change side
    mirrored = m.assemble([0.3, -start[1], -start[2]], fixed=("crank",))
    assert mirrored[2] < 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_rates_and_accelerations_obey_the_rows_and_have_the_inputs(name):
    m = example(name)
    q, _, _ = state(name)
    inputs = {m.v_names[-1]: 0.4} if FREEDOM[name][0] else {}
    qd = m.velocities(q, inputs)
    A, psi, b = closed.constraints(m, q, qd)
    assert np.abs(psi).max() < 1e-12
    qdd = m.accelerations(q, qd, dict.fromkeys(inputs, -0.7))
    assert zoo.relative_error(A @ qdd, b) < 1e-11
    for k in inputs:
        assert qd[m.v_names.index(k)] == 0.4
        assert qdd[m.v_names.index(k)] == -0.7


@pytest.mark.parametrize("name", EXAMPLES)
def test_forward_undoes_inverse_dynamics(name):
    """Any motion the constraints allow, by efforts everywhere: least ones, and they make that motion."""
    m = example(name)
    q, qd, _ = state(name)
    qdd = m.accelerations(q, qd, guess=np.cos(np.arange(m.nv)))
    tau = m.inverse_dynamics(q, qd, qdd)
    result = m.forward_dynamics(q, qd, tau)
    assert zoo.relative_error(result, qdd) < 1e-9


@pytest.mark.parametrize(
    ("name", "actuators"),
    [
        ("four-bar", ("crank",)),
        ("five-bar", ("left-crank", "right-crank")),
        ("omni-robot", ("psi1", "psi2", "psi3")),
        ("diff-drive", ("left-wheel", "right-wheel")),
    ],
)
def test_as_many_actuators_as_freedoms_make_any_motion(name, actuators):
    m = example(name)
    q, qd, _ = state(name)
    qdd = m.accelerations(q, qd, guess=np.cos(np.arange(m.nv)))
    tau = m.inverse_dynamics(q, qd, qdd, actuators=actuators)
    assert {m.v_names[k] for k in np.flatnonzero(tau)} <= set(actuators)
    assert zoo.relative_error(m.forward_dynamics(q, qd, tau), qdd) < 1e-9


def test_spare_actuators_share_the_work_with_the_least_effort():
    """One freedom, three motors: the efforts lie along what the freedom moves, so no other set is smaller."""
    m = example("four-bar")
    q, qd, _ = state("four-bar")
    qdd = m.accelerations(q, qd, {"crank": 3.0})
    tau = m.inverse_dynamics(q, qd, qdd, actuators="all")
    along = m.velocities(q, {"crank": 1.0})
    assert tau == pytest.approx(along * (tau @ along) / (along @ along), abs=1e-12)
    one = m.inverse_dynamics(q, qd, qdd, actuators=("crank",))
    assert one @ along == pytest.approx(tau @ along, rel=1e-11)
    assert np.linalg.norm(tau) < np.linalg.norm(one)


def test_inverse_kinematics_brings_a_frame_to_its_place_and_closes_the_loops():
    m = example("three-rrr")
    q, _, _ = state("three-rrr")
    rotation, position = m.pose(q, "platform")
    goal = position + np.array([0.01, -0.02, 0.0])
    result = m.inverse_kinematics(q, "platform", goal, rotation)
    for reached, wanted in zip(m.pose(result, "platform"), (rotation, goal), strict=True):
        assert reached == pytest.approx(wanted, abs=1e-11)
    assert np.abs(m.constraint_residual(result)).max() < 1e-11


@pytest.mark.parametrize("name", ["four-bar", "stewart", "omni-robot"])
def test_reduced_equations_hold_and_are_as_many_as_the_freedoms(name):
    m = example(name)
    q, qd, tau = state(name)
    E, f = m.reduced_equations(q, qd, tau)
    assert E.shape == (FREEDOM[name][0], m.nv)
    qdd = m.forward_dynamics(q, qd, tau)
    assert zoo.relative_error(E @ qdd, f) < 1e-10
