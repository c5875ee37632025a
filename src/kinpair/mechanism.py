"""The object a user holds: a model, and every quantity of it by any formulation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kinpair import quantities
from kinpair.errors import InputError, SingularError
from kinpair.evaluation import Expected, evaluate
from kinpair.formulations import kinematics
from kinpair.model.build import build
from kinpair.model.model import Model
from kinpair.model.split import SplitMap, split_description
from kinpair.model.table import table

PIVOT_TOLERANCE = 1e-14  # a pivot this small against its own entry of H is lost in rounding


class Energy(NamedTuple):
    """Kinetic and potential energy [J]."""

    kinetic: Any
    potential: Any


class FramePose(NamedTuple):
    """Rotation matrix and position of a frame in the world."""

    rotation: np.ndarray
    position: np.ndarray


class Mechanism:
    """A mechanism: sizes, names, and its dynamics for one state or a batch of states.

    Shapes: q is (nq,) or (batch, nq), rates and efforts are (nv,) or (batch, nv); results have the batch
    in front as well. `method=` chooses a formulation by name, see `methods`; `external` maps links or
    frames to wrenches [moment; force] in world axes at their origin; `passive=False` leaves out the
    springs, dampers and friction of the joints. SI units, radians.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._q = Expected("q", model.q_names)
        self._qd = Expected("qd", model.v_names)
        self._qdd = Expected("qdd", model.v_names)
        self._tau = Expected("tau", model.v_names)

    # Sizes and names.

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of rates: degrees of freedom."""
        return self.model.nv

    @property
    def q_names(self) -> tuple[str, ...]:
        """What each entry of q is."""
        return self.model.q_names

    @property
    def v_names(self) -> tuple[str, ...]:
        """What each entry of qd, qdd and tau is."""
        return self.model.v_names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that move, in the order of the description."""
        moving = sorted(self.model.moving, key=lambda i: self.model.v_span[i].start)
        return tuple(self.model.joint_names[i] for i in moving)

    @property
    def frames(self) -> tuple[str, ...]:
        """Links and frames that `pose`, `jacobian` and `external` know."""
        return tuple(self.model.places)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was doubtful in the description, and what was made of it."""
        return self.model.doubts

    @property
    def methods(self) -> Mapping[str, tuple[str, ...]]:
        """The formulations that give each quantity; the first is the default."""
        return MappingProxyType({name: tuple(ways) for name, ways in quantities.METHODS.items()})

    @property
    def mass(self) -> float:
        """Mass of all that moves [kg]."""
        return float(sum(self.model.body[i].m for i in self.model.moving))

    def __repr__(self) -> str:
        return f"<Mechanism {self.name!r}: {len(self.model.moving)} bodies, nq {self.nq}, nv {self.nv}>"

    def __str__(self) -> str:
        return table(self.model)

    # Dynamics.

    def inverse_dynamics(
        self,
        q: Any,
        qd: Any,
        qdd: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
    ) -> np.ndarray:
        """Joint efforts that produce the accelerations qdd [N m] or [N]."""
        f = quantities.formulation("inverse_dynamics", method)
        return self._evaluate(
            lambda q, qd, qdd, w: quantities.inverse_dynamics(self.model, f, q, qd, qdd, w, passive),
            (self._q, q),
            (self._qd, qd),
            (self._qdd, qdd),
            external=external or {},
        )

    def forward_dynamics(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
    ) -> np.ndarray:
        """Accelerations that the joint efforts tau produce.

        Raises SingularError, with the joint's name, where a joint moves nothing that has inertia.
        """
        f = quantities.formulation("forward_dynamics", method)
        qdd, pivots = self._evaluate(
            lambda q, qd, tau, w: quantities.forward_dynamics(self.model, f, q, qd, tau, w, passive),
            (self._q, q),
            (self._qd, qd),
            (self._tau, tau),
            external=external or {},
        )
        self._check_pivots(q, pivots)
        return qdd

    def mass_matrix(self, q: Any, *, method: str | None = None) -> np.ndarray:
        """H, symmetric and positive definite (nv, nv)."""
        f = quantities.formulation("mass_matrix", method)
        return self._evaluate(lambda q: f(self.model, q), (self._q, q))

    def coriolis_matrix(self, q: Any, qd: Any, *, method: str | None = None) -> np.ndarray:
        """C with C q̇ the Coriolis and centrifugal efforts and Ḣ − 2C skew-symmetric (nv, nv)."""
        f = quantities.formulation("coriolis_matrix", method)
        return self._evaluate(lambda q, qd: f(self.model, q, qd), (self._q, q), (self._qd, qd))

    def bias_forces(
        self,
        q: Any,
        qd: Any,
        *,
        external: Mapping[str, Any] | None = None,
        passive: bool = True,
        method: str | None = None,
    ) -> np.ndarray:
        """h = C q̇ + gravity + springs + dampers, less what is applied: H q̈ + h = τ."""
        f = quantities.formulation("bias_forces", method)
        return self._evaluate(
            lambda q, qd, w: quantities.bias_forces(self.model, f, q, qd, w, passive),
            (self._q, q),
            (self._qd, qd),
            external=external or {},
        )

    def gravity_forces(self, q: Any, *, method: str | None = None) -> np.ndarray:
        """Efforts that hold the mechanism still against gravity."""
        f = quantities.formulation("gravity_forces", method)
        return self._evaluate(lambda q: quantities.gravity_forces(self.model, f, q), (self._q, q))

    def reactions(
        self,
        q: Any,
        qd: Any,
        qdd: Any,
        *,
        external: Mapping[str, Any] | None = None,
        method: str | None = None,
    ) -> dict[str, np.ndarray]:
        """The full wrench [moment; force] on the child in every joint, by name of the joint.

        At the joint point (the origin of the moved joint frame), in axes of the joint frame on the parent.
        The component along a joint's motion is what its drive, spring and friction hand over together.
        """
        f = quantities.formulation("reactions", method)
        return self._evaluate(
            lambda q, qd, qdd, w: quantities.reactions(self.model, f, q, qd, qdd, w),
            (self._q, q),
            (self._qd, qd),
            (self._qdd, qdd),
            external=external or {},
        )

    def energy(self, q: Any, qd: Any) -> Energy:
        """Kinetic energy, and potential energy of gravity (zero at the origin) and springs."""
        found = self._evaluate(partial(quantities.energy, self.model), (self._q, q), (self._qd, qd))
        return Energy(*found.T)

    # Kinematics.

    def pose(self, q: Any, frame: str) -> FramePose:
        """Rotation (3, 3) and position (3,) of a link or frame in the world."""
        self.model.place(frame)
        return FramePose(*self._evaluate(partial(quantities.pose, self.model, frame), (self._q, q)))

    def jacobian(self, q: Any, frame: str) -> np.ndarray:
        """J (6, nv) at the origin of the frame, in world axes, angular rows first: twist = J q̇."""
        self.model.place(frame)
        return self._evaluate(partial(quantities.jacobian, self.model, frame), (self._q, q))

    def jacobian_rate(self, q: Any, qd: Any, frame: str) -> np.ndarray:
        """dJ/dt (6, nv): acceleration of the frame = J q̈ + J̇ q̇."""
        self.model.place(frame)
        f = partial(quantities.jacobian_rate, self.model, frame)
        return self._evaluate(f, (self._q, q), (self._qd, qd))

    def centre_of_mass(self, q: Any) -> np.ndarray:
        """Mass centre of all that moves, in the world (3,); links welded to the ground do not count."""
        if not self.mass:
            raise InputError(f"{self.name}: nothing that moves has mass, so there is no centre of mass")
        return self._evaluate(partial(kinematics.centre_of_mass, self.model), (self._q, q))

    def momentum(self, q: Any, qd: Any) -> np.ndarray:
        """[angular about the world's origin; linear] momentum of all that moves (6,)."""
        return self._evaluate(partial(kinematics.momentum, self.model), (self._q, q), (self._qd, qd))

    def dq_dt(self, q: Any, qd: Any) -> np.ndarray:
        """Rate of change of q at the rates qd (nq,): qd itself, except where q holds a quaternion."""
        return self._evaluate(partial(kinematics.dq_dt, self.model), (self._q, q), (self._qd, qd))

    def neutral(self) -> np.ndarray:
        """Zero angles and displacements, unit quaternions (nq,)."""
        return self.model.neutral()

    # Other forms of the same mechanism.

    def split(self) -> tuple[Mechanism, SplitMap]:
        """The same with joints of several degrees split into hinges and slides, and the maps between both."""
        other = build(split_description(self.model.description))
        return Mechanism(other), SplitMap(self.model, other)

    # Inside.

    def _evaluate(
        self, f: Any, *state: tuple[Expected, Any], external: Mapping[str, Any] | None = None
    ) -> Any:
        for name in external or {}:
            self.model.place(name)
        checked = [(expected, expected.checked(self.name, value)) for expected, value in state]
        self._check_quaternions(checked[0][1])
        return evaluate(self.name, f, checked, external)

    def _check_quaternions(self, q: np.ndarray) -> None:
        for i in self.model.moving:
            pair = self.model.body[i].pair
            if pair.nq > pair.nv and not np.abs(q[..., self.model.q_span[i]][..., -4:]).max(-1).all():
                raise InputError(
                    f"{self.name}: joint {self.model.joint_names[i]!r} has the quaternion 0 0 0 0 in q; "
                    "no rotation is 0 0 0 1",
                    joint=self.model.joint_names[i],
                )

    def _check_pivots(self, q: Any, pivots: np.ndarray) -> None:
        """Name the joint whose pivot is lost, tips first: what a tip spoils, its ancestors inherit."""
        if not pivots.size or bool((pivots > 1e-6 * pivots.max(-1, keepdims=True, initial=0.0)).all()):
            return
        batch = pivots.ndim == 2
        q, pivots = np.atleast_2d(np.asarray(q, dtype=float)), np.atleast_2d(pivots)
        if not np.isfinite(q).all():
            return
        scale = np.abs(np.diagonal(np.atleast_3d(self.mass_matrix(q)), axis1=1, axis2=2))
        sound = pivots > PIVOT_TOLERANCE * scale
        for i in reversed(self.model.moving):
            span = self.model.v_span[i]
            if not sound[:, span].all():
                row = f" (state {int(np.argmin(sound[:, span].all(1)))} of the batch)" if batch else ""
                raise SingularError(self._singular(i, row), joint=self.model.joint_names[i])

    def _singular(self, i: int, row: str) -> str:
        joint, link = self.model.joint_names[i], self.model.names[i]
        return (
            f"{self.name}: forward dynamics is singular at joint {joint!r}{row}: link {link!r} and "
            "what it carries have no inertia against that motion; give the link mass and inertia, or the joint a "
            "rotor inertia"
        )
