"""`kinpair check`: warnings about a description, each with its remedy."""

from __future__ import annotations

import re
import sys
import warnings

import numpy as np

from kinpair import KinpairError, LimitWarning, Mechanism
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Root, Snap
from kinpair.cli.screen import Screen
from kinpair.description.fields import counted

WARNED = 1  # exit code where there are warnings
ADVICE = (  # words of a warning: what to do
    (
        "not simulated, although",
        "The motion differs from that of other simulators where these parts act. Stop joints at their "
        "limits with --limits stop; replace these parts by springs, loops or rolling constraints.",
    ),
    (
        "outside its package",
        "Write package:// followed by a path inside the package, or move the mesh into the package.",
    ),
    (
        "mesh",
        "Only pictures need the mesh. Put the file there, or give the folder of its package to kp.load: "
        "packages={name: folder}.",
    ),
    (
        "without mass|<inertial> without|has mass or inertia",
        "Add mass and inertia to the link, or attach it by a fixed joint.",
    ),
    (
        "inertia",
        "No rigid body has this inertia. Check the unit (kg m²), the reference point (mass centre) and the "
        "signs of the products of inertia.",
    ),
    ("look like degrees|not degrees", 'Write angles in radians; TOML files also take "pi/2".'),
    (
        "limit|autolimits|leaves no room",
        "Write lower and upper of the joint, or make the joint continuous if it has no limits.",
    ),
    ("mimics", "Correct the name of the joint that is mimicked."),
    (
        "has no meaning|unknown|not taken|left out",
        "It has no effect here. Correct the name, or remove it from the file.",
    ),
    ("negative", "A negative value adds energy. Write a positive value."),
    ("friction|damping", "Check the value and its unit."),
    ("gear ratio", "Write the gear ratio: motor turns per joint turn."),
)
OTHERWISE = "Check this part of the file; kp.load(..., strict=True) rejects files with warnings."


def check(file: Described, /, *, base: Root = "fixed", snap: Snap = 0.0) -> None:
    """List warnings with remedies, loop closure and mobility.

    Exit code: 0 without warnings, 1 with warnings, 2 if the file cannot be read.
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
    screen.say(counted(count, "warning") if count else "no warnings")
    if count:
        sys.stdout.flush()
        raise SystemExit(WARNED)


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
