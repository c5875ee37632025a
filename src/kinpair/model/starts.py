"""States that a description gives: where it starts, and those that it gives by name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.description.parts import Numbers
from kinpair.errors import InputError, listed, nearest
from kinpair.model.model import Model


class StateByName(NamedTuple):
    """Coordinates (nq,) and rates (nv,) of a keyframe."""

    q: np.ndarray
    qd: np.ndarray


def start(model: Model) -> np.ndarray:
    """Start that the description gives for its joints, else neutral (nq,); quaternions of length one."""
    starts = {joint.name: joint.start for joint in model.description.joints if joint.start}
    return _placed(model, starts, model.neutral())


def keyframe(model: Model, name: str) -> StateByName:
    """The state of that name; joints that it does not name are at their start, and at rest."""
    every = {state.name: state for state in model.description.keyframes}
    if name not in every:
        known = f"Keyframes: {listed(every)}" if every else "the description has none"
        raise InputError(
            f"{model.name}: no keyframe {name!r}; {nearest(str(name), every)}{known}", keyframe=name
        )
    qd, rates = np.zeros(model.nv), dict(every[name].qd)
    for i in model.moving:
        if values := rates.get(model.joint_names[i]):
            qd[model.v_span[i]] = values
    return StateByName(_placed(model, dict(every[name].q), start(model)), qd)


def _placed(model: Model, starts: dict[str, Numbers], q: np.ndarray) -> np.ndarray:
    """q with what is given for joints by name."""
    for i in model.moving:
        if values := starts.get(model.joint_names[i]):
            q[model.q_span[i]] = values
        if model.body[i].pair.nq > model.body[i].pair.nv:
            k = slice(model.q_span[i].stop - 4, model.q_span[i].stop)
            q[k] /= np.linalg.norm(q[k])
    return q
