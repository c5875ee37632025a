"""The motion that options say: joints from one place to another, or a frame on a straight line."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinpair
from kinpair import FramePose, InputError, Mechanism
from kinpair.cli.obeying import Obeying
from kinpair.cli.state import Option
from kinpair.constraints.rows.build import is_constrained

AXES = ("x", "y", "z")


def start_of(m: Mechanism, words: list[str] | None) -> np.ndarray:
    """Coordinates at the start."""
    option = Option("--q", m.q_names, m.start())
    if is_constrained(m.model.description):
        return Obeying(m, 0.0).positions(option.stated(words))
    return option.read(words)


def motion_of(
    owner: str,
    m: Mechanism,
    start: np.ndarray,
    to: list[str] | None,
    by: list[str] | None,
    frame: str | None,
    duration: float,
    law: str,
) -> Any:
    """The motion that the options say."""
    if (to is None) == (frame is None):
        raise InputError("give --to coordinates, or --frame and --by a displacement")
    from kinpair.motion.joints import straight  # planning is imported by the commands that plan
    from kinpair.motion.laws import law_of

    timed = law_of(owner, law, duration)
    if frame is not None:
        if by is None:
            raise InputError("--frame needs --by, its displacement x,y,z [m]", option="--by")
        move = Option("--by", AXES, np.zeros(3)).read(by)
        pose = m.pose(start, frame)
        return {
            frame: kinpair.motion.line(
                pose, FramePose(pose.rotation, pose.position + move), duration, law=law
            )
        }
    if by is not None:
        raise InputError("--by moves a frame; name it with --frame", option="--by")
    option = Option("--to", m.q_names, start)
    if is_constrained(m.model.description):
        named = option.stated(to)
        if isinstance(named, np.ndarray):
            raise InputError(
                f"{m.name}: coordinates depend on each other here; give some by name, such as "
                f"--to {m.q_names[0]}=0.5",
                option="--to",
            )
        entries = {name: start[m.q_names.index(name)] for name in named}
        return {name: straight(here, np.asarray(named[name]), timed) for name, here in entries.items()}
    return straight(start, option.read(to), timed)
