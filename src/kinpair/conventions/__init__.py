"""States, efforts, Jacobians and mass matrices as Pinocchio, MuJoCo and Drake write them.

No engine is imported: a layout is read from the model it is handed. `layout` comes from `pinocchio_layout`,
`mujoco_layout` or `drake_layout`; without it the engine is taken to have the joints in the order of the description,
each in its usual form.
"""

from __future__ import annotations

from typing import Any

from kinpair.conventions.convention import Convention, EngineState, State, matched
from kinpair.conventions.forms import (
    DRAKE,
    MUJOCO,
    PINOCCHIO,
    Engine,
    Layout,
    Slot,
    drake_layout,
    mujoco_layout,
    pinocchio_layout,
)
from kinpair.mechanism import Mechanism

__all__ = [
    "Convention",
    "EngineState",
    "Layout",
    "Slot",
    "State",
    "drake",
    "drake_layout",
    "from_drake",
    "from_mujoco",
    "from_pinocchio",
    "mujoco",
    "mujoco_layout",
    "pinocchio",
    "pinocchio_layout",
    "to_drake",
    "to_mujoco",
    "to_pinocchio",
]


def pinocchio(mechanism: Mechanism, layout: Layout | None = None) -> Convention:
    """The map to Pinocchio and back, made once for many calls."""
    return _convention(PINOCCHIO, mechanism, layout)


def mujoco(mechanism: Mechanism, layout: Layout | None = None) -> Convention:
    """The map to MuJoCo and back, made once for many calls."""
    return _convention(MUJOCO, mechanism, layout)


def drake(mechanism: Mechanism, layout: Layout | None = None) -> Convention:
    """The map to Drake and back, made once for many calls."""
    return _convention(DRAKE, mechanism, layout)


def to_pinocchio(
    mechanism: Mechanism,
    q: Any,
    qd: Any = None,
    qdd: Any = None,
    tau: Any = None,
    *,
    layout: Layout | None = None,
) -> EngineState:
    """q, v, a, tau as Pinocchio has them; qdd needs qd.

    Units: [rad], [m] and their rates, as the other engine has them.
    """
    return pinocchio(mechanism, layout).state(q, qd, qdd, tau)


def from_pinocchio(
    mechanism: Mechanism,
    q: Any,
    v: Any = None,
    a: Any = None,
    tau: Any = None,
    *,
    layout: Layout | None = None,
) -> State:
    """q, qd, qdd, tau from Pinocchio's; a needs v.

    Units: [rad], [m] and their rates, as the other engine has them.
    """
    return pinocchio(mechanism, layout).from_state(q, v, a, tau)


def to_mujoco(
    mechanism: Mechanism,
    q: Any,
    qd: Any = None,
    qdd: Any = None,
    tau: Any = None,
    *,
    layout: Layout | None = None,
) -> EngineState:
    """qpos, qvel, qacc, qfrc as MuJoCo has them; qdd needs qd.

    Units: [rad], [m] and their rates, as the other engine has them.
    """
    return mujoco(mechanism, layout).state(q, qd, qdd, tau)


def from_mujoco(
    mechanism: Mechanism,
    q: Any,
    v: Any = None,
    a: Any = None,
    tau: Any = None,
    *,
    layout: Layout | None = None,
) -> State:
    """q, qd, qdd, tau from MuJoCo's qpos, qvel, qacc, qfrc; a needs v.

    Units: [rad], [m] and their rates, as the other engine has them.
    """
    return mujoco(mechanism, layout).from_state(q, v, a, tau)


def to_drake(
    mechanism: Mechanism,
    q: Any,
    qd: Any = None,
    qdd: Any = None,
    tau: Any = None,
    *,
    layout: Layout | None = None,
) -> EngineState:
    """q, v, vdot, generalized forces as Drake has them; qdd needs qd.

    Units: [rad], [m] and their rates, as the other engine has them.
    """
    return drake(mechanism, layout).state(q, qd, qdd, tau)


def from_drake(
    mechanism: Mechanism,
    q: Any,
    v: Any = None,
    a: Any = None,
    tau: Any = None,
    *,
    layout: Layout | None = None,
) -> State:
    """q, qd, qdd, tau from Drake's; a needs v.

    Units: [rad], [m] and their rates, as the other engine has them.
    """
    return drake(mechanism, layout).from_state(q, v, a, tau)


def _convention(engine: Engine, mechanism: Mechanism, layout: Layout | None) -> Convention:
    return Convention(engine, mechanism, matched(engine, mechanism, layout))
