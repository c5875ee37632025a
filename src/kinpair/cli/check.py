"""`kinpair check`: is a description sound, and what to do about what is not."""

from __future__ import annotations

import re
import sys
import warnings

import numpy as np

from kinpair import KinpairError, LimitWarning, Mechanism
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Root, Snap
from kinpair.cli.screen import Screen

DOUBTFUL = 1  # exit code where there are warnings
ADVICE = (  # words of a warning: what to do
    (
        "not simulated, although",
        "Do not expect the motion of another simulator where these parts act. Hold joints at their ends with --limits "
        "stop; model what touches or pulls as a spring, a loop or a rolling constraint.",
    ),
    (
        "outside its package",
        "Write package:// followed by a path inside the package, or move the mesh into it.",
    ),
    (
        "mesh",
        "Only pictures need it. Put the file there, or say where its package is: packages={name: folder}.",
    ),
    (
        "without mass|<inertial> without|has mass or inertia",
        "Write mass and inertia of the link, or weld it to its neighbour with a fixed joint.",
    ),
    (
        "inertia",
        "No body has such an inertia. Check units (kg m²), the point (the mass centre), the signs of the products.",
    ),
    ("look like degrees|not degrees", 'Write radians; in TOML "pi/2" is a number too.'),
    (
        "limit|autolimits|leaves no room",
        "Write lower and upper of the joint, or make it continuous if it has none.",
    ),
    ("mimics", "Correct the name of the joint that it follows."),
    (
        "has no meaning|unknown|not taken|left out",
        "Nothing depends on it here. Correct the name, or leave it out of the file.",
    ),
    ("negative", "A negative value puts energy in. Write a positive one."),
    ("friction|damping", "Check the value and its unit."),
    ("gear ratio", "Write the turns of the motor for one turn of the joint."),
)
OTHERWISE = "Read it as it says; kp.load(..., strict=True) refuses such a file."


def check(file: Described, /, *, base: Root = "fixed", snap: Snap = 0.0) -> None:
    """Say whether a description is sound: every warning with what to do, whether loops close, and what moves.

    The exit code is 0 where nothing is doubtful, 1 where something is, 2 where the file cannot be read.
    """
    mechanism = arguments.mechanism(file, base=base, snap=snap)
    screen = Screen()
    about = f"{len(mechanism.model.moving)} bodies, {mechanism.nv} rates, {mechanism.mass:.6g} kg"
    screen.heading(f"{mechanism.name}: {about}")
    for sentence in mechanism.warnings:
        screen.say(f"- {sentence}")
        screen.say(f"    → {advice(sentence)}")
    troubles = _troubles(mechanism)
    for sentence in troubles:
        screen.say(f"- {sentence}")
    count = len(mechanism.warnings) + len(troubles)
    screen.say("nothing is doubtful" if not count else f"{count} doubtful")
    if count:
        sys.stdout.flush()
        raise SystemExit(DOUBTFUL)


def advice(sentence: str) -> str:
    """Return the remedy for a warning."""
    return next((text for words, text in ADVICE if re.search(words, sentence)), OTHERWISE)


def _troubles(mechanism: Mechanism) -> list[str]:
    """Find what shows only when the mechanism is assembled and moves: a start that fails or is outside the limits, and
    keyframes outside them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LimitWarning)
            q = mechanism.start()
        mechanism.forward_dynamics(q, np.zeros(mechanism.nv), np.zeros(mechanism.nv))
        states = {"the start": q, **{f"keyframe {name!r}": x.q for name, x in mechanism.keyframes.items()}}
        texts = [mechanism.start_warning(x, what=what) for what, x in states.items()]
    except KinpairError as reason:
        return [str(reason)]
    return [text for text in texts if text]
