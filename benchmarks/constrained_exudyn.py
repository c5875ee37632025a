"""A closed mechanism of one-degree joints in Exudyn: a tree in minimal coordinates, loops as joints of markers."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import numpy as np

import kinpair as kp
from benchmarks.constrained_rivals import loops
from kinpair.model.model import Place


class Exudyn:
    """Its generalised-α with so many steps."""

    KNOWN: ClassVar[
        dict[str, tuple[int, int, int]]
    ] = {  # axes along which the points of a loop are held together
        "four-bar": (1, 1, 0),
        "stewart": (1, 1, 1),
    }

    def __init__(self, mechanism: kp.Mechanism, q: np.ndarray, duration: float, tau: np.ndarray) -> None:
        import exudyn

        items = import_module("exudyn.itemInterface")
        self.exu, self.duration, self.nq = exudyn, duration, mechanism.nq
        own = mechanism.model
        self.columns = [own.q_span[i].start for i in own.moving]  # Exudyn's order is that of the bodies
        system = exudyn.SystemContainer().AddSystem()
        node = system.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0] * own.nq,
                initialCoordinates=list(q[self.columns]),
                initialCoordinates_t=[0.0] * own.nq,
                numberOfODE2Coordinates=own.nq,
            )
        )
        kinds = {"revolute": exudyn.JointType.RevoluteZ, "prismatic": exudyn.JointType.PrismaticZ}
        bodies = [own.body[i] for i in own.moving]
        tree = system.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node,
                jointTypes=[kinds[body.pair.kind] for body in bodies],
                linkParents=[own.parent[i] - 1 for i in own.moving],
                jointTransformations=exudyn.Matrix3DList([_floats(body.R_seat) for body in bodies]),
                jointOffsets=exudyn.Vector3DList([_floats(body.a_seat) for body in bodies]),
                linkInertiasCOM=exudyn.Matrix3DList([_floats(body.I) for body in bodies]),
                linkCOMs=exudyn.Vector3DList([_floats(body.d) for body in bodies]),
                linkMasses=[float(body.m) for body in bodies],
                gravity=list(_floats(own.gravity)),
                jointForceVector=list(tau[self.columns]),
            )
        )
        ground = system.AddObject(items.ObjectGround())
        for places in loops(mechanism):
            ends = [self._end(items, tree, ground, place) for place in places]
            markers = [system.AddMarker(end) for end in ends]
            axes = list(self.KNOWN[mechanism.name])
            system.AddObject(items.ObjectJointSpherical(markerNumbers=markers, constrainedAxes=axes))
        system.Assemble()
        self.system = system

    @staticmethod
    def _end(items: Any, tree: Any, ground: Any, place: Place) -> Any:
        """A marker at one end of a loop."""
        at = list(_floats(place.pose.a))
        if not place.body:
            return items.MarkerBodyRigid(bodyNumber=ground, localPosition=at)
        return items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=place.body - 1, localPosition=at)

    def run(self, steps: int) -> np.ndarray:
        """Coordinates at the end; NaN where it gave up."""
        settings: Any = self.exu.SimulationSettings()
        settings.solutionSettings.writeSolutionToFile = False
        settings.displayStatistics = False
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.endTime = self.duration
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
        q = np.full(self.nq, np.nan)
        if self.system.SolveDynamic(settings, updateInitialValues=False, storeSolver=False):
            q[self.columns] = self.system.systemData.GetODE2Coordinates()
        return q


def _floats(x: Any) -> np.ndarray:
    return np.array(x, dtype=float)
