"""Motion in time: RK4 at 1 kHz beside MuJoCo and Pinocchio, one motion and a thousand."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import mujoco.rollout
import numpy as np
import pinocchio as pin
from lxml import etree

import kinpair as kp
from benchmarks import constrained_motion, simulation_adaptive, targets
from benchmarks.batches import Row
from benchmarks.machine import compiling_for
from benchmarks.mujoco_rival import mujoco_model
from benchmarks.planning import Row as Figure
from benchmarks.rival import relative_error
from benchmarks.robots import Robot, random_states, robot
from benchmarks.timing import race
from kinpair import conventions

ONE, MANY = "motion, RK4 at 1 kHz", "1024 motions, RK4 at 1 kHz"
STEPPED, MANY_STEPPED = "one RK4 step by a stepper", "one RK4 step of 256 by a stepper"
SHORT = "100 RK4 steps, second call"
DT = 1e-3
STEPS, LOOPED = 20_000, 50
BATCH, BATCH_STEPS, ROLLED = 1024, 50, 64
DAMPING = 0.05  # N m s: of the joints, in all engines
AGREE = 1e-6
ROBOTS = ("Panda", "xArm7", "G1")
METHOD = {"integrator": "rk4", "dt": DT}


def rows(instructions: Iterable[str], turns: int) -> Iterator[Row]:
    """A row a robot for one motion, one for many, one for an adaptive method."""
    for which in map(gripped, ROBOTS):
        yield _one(which, turns)
        yield _many(which, instructions, turns)
    for which in map(gripped, ("Panda", "xArm7")):
        yield _stepped(which, turns)
        yield _many_stepped(which, turns)
    yield _short(robot("UR5"), turns)
    yield simulation_adaptive.row(turns)
    yield from constrained_motion.rows(turns)


class Gripped(Robot):
    """A robot whose fingers, which follow each other, are welded: the Panda is an arm of seven joints."""

    __slots__ = ()

    def bare_urdf(self) -> str:
        """The file without looks and without moving fingers."""
        tree = etree.fromstring(super().bare_urdf())
        for joint in tree.findall("joint"):
            if "finger" in joint.get("name", ""):
                joint.set("type", "fixed")
                for part in joint.findall("mimic") + joint.findall("limit"):
                    joint.remove(part)
        return etree.tostring(tree, encoding="unicode")

    def load(self) -> kp.Mechanism:
        """The robot of that text, without doubts about it."""
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.DescriptionWarning)
            file = Path(folder) / f"{self.stem}.urdf"
            file.write_text(self.bare_urdf(), encoding="utf-8")
            return kp.load(file)


def gripped(label: str) -> Gripped:
    """The robot of that name, fingers welded."""
    which = robot(label)
    return Gripped(which.label, which.stem, which.kind)


def damped(which: Robot) -> kp.Mechanism:
    """The robot with light dampers and no dry friction in its joints."""
    description = which.load().model.description
    joints = tuple(
        replace(j, damping=(DAMPING,), friction=()) if j.kind in ("revolute", "prismatic") else j
        for j in description.joints
    )
    return kp.build(replace(description, joints=joints))


class Motions:
    """A robot at random states, slow enough to stay tame, in our engine and the peers'."""

    def __init__(self, which: Robot) -> None:
        self.mechanism = damped(which)
        s = random_states(self.mechanism, BATCH)
        self.q, self.qd = s.q, 0.1 * s.qd
        self.model = _mujoco(which)
        self.data = mujoco.MjData(self.model)
        self.to = conventions.mujoco(self.mechanism, conventions.mujoco_layout(self.model))
        theirs = self.to.state(self.q, self.qd)
        assert theirs.v is not None
        self.x, self.v = theirs.q, theirs.v

    def ours(self, rows: int | slice, steps: int, output: float = DT) -> kp.Result:
        """So many steps, a sample each or as told."""
        q, qd = self.q[rows], self.qd[rows]
        return kp.simulate(self.mechanism, q, qd, duration=steps * DT, output=output, **METHOD)

    def check(self, run: kp.Result, x: np.ndarray, row: int) -> None:
        """The same motion as theirs."""
        result = run.q[row, -1] if run.q.ndim == 3 else run.q[-1]
        expected = self.to.from_state(x[None], np.zeros((1, self.model.nv))).q[0]
        error = relative_error(result, expected)
        assert error < AGREE, f"{self.mechanism.name}: MuJoCo moves otherwise, error {error:.1e}"


def _mujoco(which: Robot) -> mujoco.MjModel:
    model = mujoco_model(which)
    assert model is not None
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = DT
    model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_DAMPER)
    model.dof_damping[:] = DAMPING
    model.dof_frictionloss[:] = 0.0
    return model


def drift_rows() -> Iterator[Figure]:
    """How far the mean energy of a swinging arm moves over 10⁶ steps of `variational`, as a part of its band."""
    arm, dt = kp.example("double-pendulum"), 0.01
    run = kp.simulate(
        arm, [0.3, 0.2], [0.0, 0.0], duration=1e6 * dt, dt=dt, integrator="variational", output=10 * dt
    )
    total = run.energy.kinetic + run.energy.potential
    means = [half.mean() for half in np.array_split(total, 2)]
    what = "drift of the energy over 10⁶ variational steps, part of its band"
    yield Figure(what, float(abs(means[1] - means[0]) / np.ptp(total)), "", targets.DRIFT)


def _one(which: Robot, turns: int) -> Row:
    m = Motions(which)
    ours = partial(m.ours, 0, STEPS, output=STEPS * DT)  # their call gives the last state only

    def their_steps() -> None:
        m.data.qpos[:], m.data.qvel[:], m.data.time = m.x[0], m.v[0], 0.0
        mujoco.mj_step(m.model, m.data, STEPS)

    their_steps()
    m.check(ours(), m.data.qpos.copy(), 0)
    calls = {"ours": ours, "MuJoCo": their_steps, "Pinocchio": _pinocchio_loop(which, m)}
    best = race(calls, turns)
    each = {"ours": STEPS, "MuJoCo": STEPS, "Pinocchio": LOOPED}
    ns = {name: best[name] / each[name] * 1e9 for name in calls}
    return _row(ONE, which, m.mechanism, {"scalar": ns.pop("ours")}, ns)


def _pinocchio_loop(which: Robot, m: Motions) -> Callable[[], None]:
    """RK4 in Python over Pinocchio's ABA; all joints turn, so dq/dt is the rate."""
    model = pin.buildModelFromXML(which.bare_urdf())
    data = model.createData()
    q0, v0 = np.zeros(model.nq), np.zeros(model.nv)

    def f(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pin.aba(model, data, q, v, -DAMPING * v)

    def call() -> None:
        q, v, h = q0, v0, DT
        for _ in range(LOOPED):
            k1 = f(q, v)
            v2 = v + 0.5 * h * k1
            k2 = f(q + 0.5 * h * v, v2)
            v3 = v + 0.5 * h * k2
            k3 = f(q + 0.5 * h * v2, v3)
            v4 = v + h * k3
            k4 = f(q + h * v3, v4)
            q = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
            v = v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return call


def _many(which: Robot, instructions: Iterable[str], turns: int) -> Row:
    m = Motions(which)
    calls: dict[str, Callable[[], object]] = {}
    for name in instructions:
        with compiling_for(name):
            mine = Motions(which)
            mine.ours(slice(None), BATCH_STEPS)
        calls[name] = partial(mine.ours, slice(None), BATCH_STEPS)
    start = np.concatenate([np.zeros((ROLLED, 1)), m.x[:ROLLED], m.v[:ROLLED]], axis=1)

    def rolled() -> np.ndarray:
        return mujoco.rollout.rollout(m.model, m.data, start, nstep=BATCH_STEPS)[0]

    m.check(m.ours(slice(None), BATCH_STEPS), rolled()[7, -1, 1 : 1 + m.model.nq], 7)
    best = race(calls | {"MuJoCo": rolled}, turns)
    ns = {name: best[name] / BATCH / BATCH_STEPS * 1e9 for name in calls}
    theirs = {"MuJoCo": best["MuJoCo"] / ROLLED / BATCH_STEPS * 1e9}
    return _row(MANY, which, m.mechanism, ns, theirs)


def _stepped(which: Robot, turns: int) -> Row:
    """A call of `Stepper.step` beside one of `mj_step`, both with efforts to set, in a Python loop."""
    m, calls = Motions(which), 1000
    s, tau = kp.stepper(m.mechanism, DT), np.zeros(m.mechanism.nv)

    def ours() -> None:
        s.reset(m.q[0], m.qd[0])
        for _ in range(calls):
            s.step(tau)

    def theirs() -> None:
        m.data.qpos[:], m.data.qvel[:], m.data.time = m.x[0], m.v[0], 0.0
        applied = m.data.qfrc_applied
        for _ in range(calls):
            applied[:] = tau
            mujoco.mj_step(m.model, m.data)

    best = race({"ours": ours, "MuJoCo": theirs}, turns)
    ns = {name: x / calls * 1e9 for name, x in best.items()}
    return _row(STEPPED, which, m.mechanism, {"scalar": ns.pop("ours")}, ns)


def _many_stepped(which: Robot, turns: int) -> Row:
    """A batch of motions stepped at once, beside `mj_step` for each."""
    m, motions, calls = Motions(which), 256, 20
    s, tau = kp.stepper(m.mechanism, DT, batch=motions), np.zeros((motions, m.mechanism.nv))

    def ours() -> None:
        s.reset(m.q[:motions], m.qd[:motions])
        for _ in range(calls):
            s.step(tau)

    def theirs() -> None:
        m.data.qpos[:], m.data.qvel[:], m.data.time = m.x[0], m.v[0], 0.0
        for _ in range(motions):
            mujoco.mj_step(m.model, m.data)

    best = race({"ours": ours, "MuJoCo": theirs}, turns)
    ns = best["ours"] / calls / motions * 1e9, best["MuJoCo"] / motions * 1e9
    return _row(MANY_STEPPED, which, m.mechanism, {"SIMD": ns[0]}, {"MuJoCo": ns[1]})


def _short(which: Robot, turns: int) -> Row:
    """A short run by `kp.simulate` with all its monitors, beside as many steps of MuJoCo in a Python loop."""
    m, steps = Motions(which), 100
    ours = partial(m.ours, 0, steps)

    def theirs() -> None:
        m.data.qpos[:], m.data.qvel[:], m.data.time = m.x[0], m.v[0], 0.0
        for _ in range(steps):
            mujoco.mj_step(m.model, m.data)

    ours()
    best = race({"ours": ours, "MuJoCo": theirs}, turns)
    ns = {name: x / steps * 1e9 for name, x in best.items()}
    return _row(SHORT, which, m.mechanism, {"scalar": ns.pop("ours")}, ns)


def _row(
    what: str, which: Robot, mechanism: kp.Mechanism, ours: dict[str, float], peers: dict[str, float]
) -> Row:
    demanded = {peer: targets.ratio(what, peer, which, mechanism.nv) for peer in peers}
    return Row(what, which.label, mechanism.nv, ours, {}, peers, {k: x for k, x in demanded.items() if x})
