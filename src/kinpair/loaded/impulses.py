"""Impulses in surfaces under load: the wrenches of a motion at rest whose accelerations are the jump of the rates.

w = wrenches(q, q̇ = 0, q̈ = q̇⁺ − q̇⁻, g = 0),   c_l = forms_l(w)                                       (FS5)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinpair.forces.surfaces.table import surfaces_of
from kinpair.formulations import newton_euler
from kinpair.formulations.kinematics import no_wrenches
from kinpair.model.model import Model
from kinpair.model.recursion import coordinates

ROUNDING = 1e-9  # of the largest impulse; and of a jump of the rates [rad/s], [m/s]


def struck_joints(model: Model, q: np.ndarray, jump: np.ndarray) -> tuple[str, ...]:
    """Return the names of the joints with friction from load that transmit an impulse; jump (nv,) of the rates.

    Under constraints that is every such joint: the impulses of loops are not among those of the tree.
    """
    surfaces = surfaces_of(model) if np.abs(jump).max(initial=0.0) > ROUNDING else ()
    names = [model.joint_names[s.body] for s in surfaces]
    if surfaces and not model.description.constraints:
        at_rest = replace(model, gravity=np.zeros(3))
        w = newton_euler.wrenches(at_rest, q, np.zeros(model.nv), jump, no_wrenches(model))  # (FS5)
        qs, largest = coordinates(model, q), max(float(np.abs(x).max()) for x in w[1:])
        forms = (s.forms(w[s.body], qs[s.body]) for s in surfaces)
        names = [name for name, c in zip(names, forms, strict=True) if np.abs(c).max() > ROUNDING * largest]
    return tuple(dict.fromkeys(names))
