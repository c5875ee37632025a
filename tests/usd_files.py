"""Descriptions as USD files, by usd-core: links with their masses, hinges, slides, balls and welds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdPhysics

from kinpair.description.constraint_parts import Loop
from kinpair.description.parts import GROUND, Description, Joint
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import to_quaternion, turn_z_to

TYPES = {
    "revolute": UsdPhysics.RevoluteJoint,
    "prismatic": UsdPhysics.PrismaticJoint,
    "spherical": UsdPhysics.SphericalJoint,
    "fixed": UsdPhysics.FixedJoint,
}


def new_stage(length: float = 1.0, mass: float = 1.0, up: str = "Z") -> Any:
    """A stage whose units are `length` metres and `mass` kilograms."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, length)
    UsdPhysics.SetStageKilogramsPerUnit(stage, mass)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/robot").GetPrim())
    return stage


def body(stage: Any, name: str, pose: Pose = HOME) -> Any:
    """A rigid body at a pose in units of the stage."""
    prim = UsdGeom.Xform.Define(stage, f"/robot/{name}")
    matrix = np.eye(4)
    matrix[:3, :3], matrix[3, :3] = pose.R.T, pose.a
    prim.AddTransformOp().Set(Gf.Matrix4d(*matrix.ravel().tolist()))
    UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim())
    return prim.GetPrim()


def joint(stage: Any, name: str, kind: str, ends: tuple[str, str], frames: tuple[Pose, Pose]) -> Any:
    """A joint between bodies by name (ground: the world), with its frame in each, in units of the stage."""
    made = TYPES[kind].Define(stage, f"/robot/{name}")
    for side, (end, frame) in enumerate(zip(ends, frames, strict=True)):
        if end != GROUND:
            made.GetPrim().GetRelationship(f"physics:body{side}").SetTargets([f"/robot/{end}"])
        x, y, z, w = to_quaternion(frame.R).tolist()
        made.GetPrim().GetAttribute(f"physics:localPos{side}").Set(Gf.Vec3f(*frame.a.tolist()))
        made.GetPrim().GetAttribute(f"physics:localRot{side}").Set(Gf.Quatf(w, x, y, z))
    if kind in ("revolute", "prismatic"):
        made.GetAxisAttr().Set("Z")
    return made


def as_name(name: str) -> str:
    """The name as USD allows it."""
    return name.replace("-", "_").replace(" ", "_")


def write(description: Description, file: Path, length: float = 1.0, mass: float = 1.0) -> None:
    """Write links, tree joints and loops; gravity as that of a scene. Names have _ in the place of -."""
    stage = new_stage(length, mass)
    scene = UsdPhysics.Scene.Define(stage, "/robot/scene")
    g = np.array(description.gravity)
    scene.GetGravityMagnitudeAttr().Set(float(np.linalg.norm(g)) / length)
    scene.GetGravityDirectionAttr().Set(Gf.Vec3f(*g.tolist()))
    homes = {GROUND: HOME}
    waiting = list(description.joints)
    while waiting:
        part = next(x for x in waiting if x.parent in homes)
        waiting.remove(part)
        homes[part.child] = homes[part.parent] @ part.origin.pose() @ part.child_origin.pose()
    for link in description.links:
        prim = body(stage, as_name(link.name), _in_units(homes[link.name], length))
        values = UsdPhysics.MassAPI.Apply(prim)
        moments, axes = np.linalg.eigh(link.tensor())
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
        x, y, z, w = to_quaternion(axes).tolist()
        values.GetMassAttr().Set(link.mass / mass)
        values.GetCenterOfMassAttr().Set(Gf.Vec3f(*(np.array(link.com) / length).tolist()))
        values.GetDiagonalInertiaAttr().Set(Gf.Vec3f(*(moments / (mass * length**2)).tolist()))
        values.GetPrincipalAxesAttr().Set(Gf.Quatf(w, x, y, z))
    for part in (*description.joints, *(x for x in description.constraints if isinstance(x, Loop))):
        _joint(stage, part, length)
    stage.Export(str(file))


def _in_units(pose: Pose, length: float) -> Pose:
    return Pose(pose.R, pose.a / length)


def _joint(stage: Any, part: Joint | Loop, length: float) -> None:
    turn = Pose(turn_z_to(part.axis) if part.kind in ("revolute", "prismatic") else np.eye(3), np.zeros(3))
    here = part.origin.pose() @ turn
    there = (
        part.child_origin.pose().inverse() if isinstance(part, Joint) else part.child_origin.pose()
    ) @ turn
    ends = tuple(x if x == GROUND else as_name(x) for x in (part.parent, part.child))
    made = joint(
        stage,
        f"joint_{as_name(part.name)}",
        part.kind,
        ends,
        (_in_units(here, length), _in_units(there, length)),
    )
    if isinstance(part, Loop):
        made.GetExcludeFromArticulationAttr().Set(True)
