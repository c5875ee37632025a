"""One state at a time from Python: what a control loop does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks import targets
from benchmarks.batches import Row
from benchmarks.mujoco_rival import mujoco_model
from benchmarks.robots import Robot, random_states
from benchmarks.timing import race, repeated

QUANTITY = "one state"
TIMES = 500


def rows(robots: Iterable[Robot], turns: int) -> Iterator[Row]:
    """Inverse dynamics of one state by plain arrays; a state's arrays are the engine's own."""
    for robot in robots:
        mechanism = robot.load()
        s = random_states(mechanism, 1)
        q, qd, qdd = s.q[0], s.qd[0], s.x[0]
        mechanism.inverse_dynamics(q, qd, qdd)
        calls = {"kinpair": repeated(mechanism.inverse_dynamics, q, qd, qdd, times=TIMES)}
        calls |= {name: make(robot, q, qd, qdd) for name, make in PEERS.items()}
        best = {
            name: t / TIMES * 1e9 for name, t in race({k: f for k, f in calls.items() if f}, turns).items()
        }
        demanded = targets.ratio(QUANTITY, "Pinocchio", robot, mechanism.nv)
        ours = {"scalar": best.pop("kinpair")}
        yield Row(
            QUANTITY, robot.label, mechanism.nv, ours, {}, best, {"Pinocchio": demanded} if demanded else {}
        )


def _pinocchio(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Callable[[], None]:
    root = (pin.JointModelFreeFlyer(),) if robot.base == "free" else ()
    model = pin.buildModelFromUrdf(str(robot.path), *root)
    return repeated(pin.rnea, model, model.createData(), q, qd, qdd, times=TIMES)


def _mujoco(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Callable[[], None] | None:
    model = mujoco_model(robot)
    if model is None:
        return None
    data = mujoco.MjData(model)
    qpos, qvel, qacc = data.qpos, data.qvel, data.qacc

    def call() -> None:
        qpos[:], qvel[:], qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)

    return repeated(call, times=TIMES)


def _casadi(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Callable[[], None]:
    mechanism = robot.load()
    function = mechanism.kernel("inverse_dynamics", passive=False).casadi()
    buffer, run = function.buffer()
    tau = np.empty(mechanism.nv)
    for k, x in enumerate((q, qd, qdd)):
        buffer.set_arg(k, memoryview(x))
    buffer.set_res(0, memoryview(tau))
    alive = (function, buffer, tau)
    return repeated(lambda _: run(), alive, times=TIMES)


def _drake(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Callable[[], None] | None:
    if robot.base == "free" or find_spec("pydrake") is None:
        return None
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces

    plant = MultibodyPlant(0.0)
    try:
        (number,) = Parser(plant).AddModelsFromString(robot.bare_urdf(), "urdf")
    except RuntimeError:  # Drake refuses the file
        return None
    root = plant.get_body(plant.GetBodyIndices(number)[0])
    if not plant.HasJointNamed("world_joint"):  # some files have a link `world` of their own
        plant.WeldFrames(plant.world_frame(), root.body_frame())
    plant.Finalize()
    if plant.num_positions() != len(q):  # Drake makes another tree of this file
        return None
    context, state = plant.CreateDefaultContext(), np.concatenate([q, qd])
    forces = MultibodyForces(plant)

    def call() -> None:
        plant.SetPositionsAndVelocities(context, state)
        plant.CalcForceElementsContribution(context, forces)
        plant.CalcInverseDynamics(context, qdd, forces)

    return repeated(call, times=TIMES)


PEERS = {"Pinocchio": _pinocchio, "MuJoCo": _mujoco, "Drake": _drake, "CasADi": _casadi}
