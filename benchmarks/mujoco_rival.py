"""MuJoCo without contacts, limits, actuators and sensors: mj_forward in its own batch, mj_inverse in a Python loop."""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco.batch import Batch

import kinpair as kp
from benchmarks.rival import BATCH, LOOPED, Rival, loop
from benchmarks.robots import Robot, States
from kinpair import conventions

NAME = "MuJoCo"
OPTIONS = '<mujoco><compiler balanceinertia="false" fusestatic="true"/></mujoco></robot>'
OFF = "CONSTRAINT EQUALITY FRICTIONLOSS LIMIT CONTACT SPRING DAMPER WARMSTART ACTUATION SENSOR ISLAND".split()


def mujoco_model(robot: Robot) -> mujoco.MjModel | None:
    """The robot, welded links merged; None where MuJoCo refuses an inertia."""
    spec = mujoco.MjSpec.from_string(robot.bare_urdf().replace("</robot>", OPTIONS))
    if robot.base == "free":
        spec.worldbody.first_body().add_freejoint()
    try:
        model = spec.compile()
    except ValueError:
        return None
    model.opt.disableflags = sum(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}") for flag in OFF)
    return model


class Mujoco:
    """A robot in MuJoCo at given states."""

    def __init__(self, robot: Robot, mechanism: kp.Mechanism, states: States) -> None:
        self.states = states
        self.model = mujoco_model(robot)
        if self.model is not None:
            self.to = conventions.mujoco(mechanism, conventions.mujoco_layout(self.model))
            self.s = self.to.state(states.q, states.qd, states.x, states.x)

    def rivals(self, quantity: str) -> list[Rival]:
        """Those that give the quantity."""
        make = {"inverse dynamics": self._inverse, "forward dynamics": self._forward}.get(quantity)
        return [make()] if make and self.model is not None else []

    def _inverse(self) -> Rival:
        model, data = self.model, mujoco.MjData(self.model)
        qpos, qvel, qacc, result = data.qpos, data.qvel, data.qacc, data.qfrc_inverse
        tau = np.empty((LOOPED, self.model.nv))

        def step(q, v, a, row) -> None:
            qpos[:], qvel[:], qacc[:] = q, v, a
            mujoco.mj_inverse(model, data)
            row[:] = result

        call = loop(step, *(x[:LOOPED] for x in self.s[:3]), tau)
        return Rival(NAME, call, LOOPED, lambda: self.to.from_efforts(self.states.q[:LOOPED], tau))

    def _forward(self) -> Rival:
        batch = Batch(self.model, BATCH, nthread=1)
        batch.qpos, batch.qvel, batch.qfrc_applied = self.s.q, self.s.v, self.s.tau
        qacc = batch.bind("qacc")
        return Rival(
            NAME,
            batch.forward,
            BATCH,
            lambda: self.to.from_accelerations(self.states.q, self.s.v, qacc),
        )
