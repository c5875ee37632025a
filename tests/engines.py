"""Pinocchio, MuJoCo and Drake behind one face: a robot in, its dynamics in the engine's own conventions out.

inverse_dynamics(q, v, a), mass_matrix(q), pose(q, link) and jacobian(q, link): world axes, rows as the engine
has them, no damping and no friction.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from lxml import etree
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import JacobianWrtVariable

import zoo
from kinpair import conventions
from kinpair.conventions import Convention
from kinpair.mechanism import Mechanism

LOOKS = ("visual", "collision", "gazebo", "transmission", "mujoco")  # what no dynamics needs


@dataclass(frozen=True)
class Pinocchio:
    model: Any

    @classmethod
    def read(cls, urdf: str, floating: bool) -> Pinocchio:
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        return cls(pin.buildModelFromXML(urdf, *root))

    def convention(self, mechanism: Mechanism, **names: Any) -> Convention:
        return conventions.pinocchio(mechanism, conventions.pinocchio_layout(self.model, **names))

    def inverse_dynamics(self, q, v, a):
        return pin.rnea(self.model, self.model.createData(), q, v, a)

    def mass_matrix(self, q):
        H = np.triu(pin.crba(self.model, self.model.createData(), q))
        return H + np.triu(H, 1).T

    def pose(self, q, link):
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, q)
        place = data.oMf[self.model.getFrameId(link, pin.FrameType.BODY)]
        return place.rotation, place.translation

    def jacobian(self, q, link):
        frame = self.model.getFrameId(link, pin.FrameType.BODY)
        J = pin.computeFrameJacobian(
            self.model, self.model.createData(), q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        return J.reshape(6, self.model.nv)  # one column comes as a vector


@dataclass(frozen=True)
class Mujoco:
    model: Any

    @classmethod
    def read(cls, urdf: str, floating: bool) -> Mujoco:
        options = '<mujoco><compiler balanceinertia="false" fusestatic="false"/></mujoco></robot>'
        spec = mujoco.MjSpec.from_string(urdf.replace("</robot>", options))
        if floating:
            spec.worldbody.first_body().add_freejoint()
        return cls(spec.compile())

    def convention(self, mechanism: Mechanism, **names: Any) -> Convention:
        return conventions.mujoco(mechanism, conventions.mujoco_layout(self.model, **names))

    def _at(self, q, v=0.0, a=0.0):
        data = mujoco.MjData(self.model)
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_fwdPosition(self.model, data)
        mujoco.mj_fwdVelocity(self.model, data)
        return data

    def inverse_dynamics(self, q, v, a):
        tau = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self._at(q, v, a), 1, tau)
        return tau + self.model.dof_armature * a  # which mj_rne leaves out

    def mass_matrix(self, q):
        H = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self._at(q), H)
        return H

    def pose(self, q, link):
        data, k = self._at(q), self._body(link)
        return data.xmat[k].reshape(3, 3), data.xpos[k]

    def jacobian(self, q, link):
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mujoco.mj_jacBody(self.model, self._at(q), linear, angular, self._body(link))
        return np.concatenate([linear, angular])

    def _body(self, link):
        """Return the number of a body; one without a name is `body NUMBER` here."""
        names = [self.model.body(k).name or f"body {k}" for k in range(self.model.nbody)]
        return names.index(link)


@dataclass(frozen=True)
class Drake:
    plant: Any

    @classmethod
    def read(cls, urdf: str, floating: bool) -> Drake:
        plant, (urdf, root) = MultibodyPlant(0.0), _plain_tree(urdf)
        Parser(plant).AddModelsFromString(urdf, "urdf")
        if not floating:
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
        plant.Finalize()
        return cls(plant)

    def convention(self, mechanism: Mechanism, **names: Any) -> Convention:
        return conventions.drake(mechanism, conventions.drake_layout(self.plant, **names))

    def _at(self, q, v=None):
        context = self.plant.CreateDefaultContext()
        self.plant.SetPositions(context, q)
        self.plant.SetVelocities(context, np.zeros(self.plant.num_velocities()) if v is None else v)
        return context

    def _body(self, link):
        return self.plant.GetBodyByName(link.rpartition("::")[2])  # names of Drake have no model in front

    def inverse_dynamics(self, q, v, a):
        context = self._at(q, v)
        bias = self.plant.CalcBiasTerm(context) - self.plant.CalcGravityGeneralizedForces(context)
        return self.plant.CalcMassMatrix(context) @ a + bias

    def mass_matrix(self, q):
        return self.plant.CalcMassMatrix(self._at(q))

    def pose(self, q, link):
        place = self._body(link).EvalPoseInWorld(self._at(q))
        return place.rotation().matrix(), place.translation()

    def jacobian(self, q, link):
        frame, world = self._body(link).body_frame(), self.plant.world_frame()
        return self.plant.CalcJacobianSpatialVelocity(
            self._at(q), JacobianWrtVariable.kV, frame, np.zeros(3), world, world
        )


def _plain_tree(urdf: str) -> tuple[str, str]:
    """Without mimics and with no link called world, which Drake takes for its own; and the root link."""
    urdf = urdf.replace('link="world"', 'link="root"').replace('link name="world"', 'link name="root"')
    robot = etree.fromstring(urdf)
    for mimic in robot.findall("joint/mimic"):
        mimic.getparent().remove(mimic)
    children = [child.get("link") for child in robot.findall("joint/child")]
    (root,) = (link.get("name") for link in robot.findall("link") if link.get("name") not in children)
    return etree.tostring(robot, encoding="unicode"), root


def bare_urdf(path: Path) -> str:
    """The robot in a file without its looks: what engines that insist on meshes can read."""
    robot = etree.fromstring(path.read_bytes(), etree.XMLParser(remove_comments=True))
    for look in robot.xpath("|".join(f"//{name}" for name in LOOKS)):
        look.getparent().remove(look)
    return etree.tostring(robot, encoding="unicode")


def bare_sdf(text: str, loops: set[str]) -> str:
    """Text without looks, plugins, and the joints that close loops, which Drake does not take."""
    root = etree.fromstring(text.encode())
    for element in list(root.iter("visual", "collision", "plugin", "joint")):
        if element.tag != "joint" or element.get("name") in loops:
            element.getparent().remove(element)
    return etree.tostring(root, encoding="unicode")


def disagreement(ours: Mechanism, theirs: Any, c: Convention, m: zoo.Motion) -> dict[str, float]:
    """Relative errors of what is converted against what the engine computes, in one state."""
    tip = ours.model.names[-1]
    s = c.state(m.q, m.qd, m.qdd, ours.inverse_dynamics(m.q, m.qd, m.qdd, passive=False))
    pose, their_pose = ours.pose(m.q, tip), theirs.pose(s.q, tip)
    results = {
        "inverse dynamics": (s.tau, theirs.inverse_dynamics(s.q, s.v, s.a)),
        "mass matrix": (c.mass_matrix(m.q, ours.mass_matrix(m.q)), theirs.mass_matrix(s.q)),
        "rotation": (pose.rotation, their_pose[0]),
        "position": (pose.position, their_pose[1]),
        "jacobian": (c.jacobian(m.q, ours.jacobian(m.q, tip)), theirs.jacobian(s.q, tip)),
    }
    return {name: zoo.relative_error(*pair) for name, pair in results.items()}


ENGINES = {"pinocchio": Pinocchio, "mujoco": Mujoco, "drake": Drake}
