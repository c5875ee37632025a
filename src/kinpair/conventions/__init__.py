"""States, efforts, Jacobians and mass matrices as Pinocchio, MuJoCo and Drake write them.

No engine is imported: a layout is read from the model it is handed.
"""

from kinpair.conventions.convention import Convention, EngineState, State
from kinpair.conventions.engines import (
    drake,
    from_drake,
    from_mujoco,
    from_pinocchio,
    mujoco,
    pinocchio,
    to_drake,
    to_mujoco,
    to_pinocchio,
)
from kinpair.conventions.forms import Layout, Slot, drake_layout, mujoco_layout, pinocchio_layout

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
