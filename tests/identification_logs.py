"""Generated logs of an arm with known parameters."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import kinpair as kp
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList

ARM = """
name = "test arm"
[[link]]
name = "column"
mass = 6.0
com = [0.01, -0.02, 0.1]
inertia = [0.05, 0.06, 0.04, 0.002, 0.001, -0.003]
[[link]]
name = "upper"
mass = 4.0
com = [0.2, 0.01, 0.02]
inertia = [0.01, 0.06, 0.06, 0.001, -0.002, 0.0015]
[[link]]
name = "fore"
mass = 2.5
com = [0.15, 0.02, -0.01]
inertia = [0.006, 0.03, 0.03, -0.001, 0.0005, 0.001]
[[joint]]
name = "waist"
kind = "revolute"
parent = "ground"
child = "column"
axis = "z"
rotor_inertia = 2e-5
gear_ratio = 100
friction = {friction}
[[joint]]
name = "shoulder"
kind = "revolute"
parent = "column"
child = "upper"
xyz = [0, 0, 0.3]
axis = "y"
rotor_inertia = 3e-5
gear_ratio = 100
friction = {friction}
[[joint]]
name = "elbow"
kind = "revolute"
parent = "upper"
child = "fore"
xyz = [0.43, 0, 0]
axis = "y"
rotor_inertia = 1e-5
gear_ratio = 100
friction = {friction}
"""
PLAIN = '{ law = "coulomb", level = 2.0, viscous = 1.5 }'
WITH_LOAD = (
    '[{ law = "servo", level = 2.0, level_static = 2.0, stribeck_speed = 1, exponent = 1, viscous = 1.5, '
    "load_share = 0.06, motor_share = 0, motor_share_static = 0, load_share_static = 0, motor_square = 0, "
    "load_square = 0 }]"
)


def arm(friction: str = PLAIN) -> kp.Mechanism:
    """The arm with its true parameters."""
    return _arm(friction)


@cache
def _arm(friction: str) -> kp.Mechanism:
    text = ARM.replace("{friction}", friction)
    return kp.build(parse_toml(text, source="arm.toml", warnings=WarningList()))


@cache
def guess() -> kp.Mechanism:
    """The arm as a file with invented inertias has it: rods of other masses, no rotors, no friction."""
    text = (
        ARM.replace("rotor_inertia", "damping")
        .replace("gear_ratio = 100\n", "")
        .replace("friction = {friction}\n", "")
    )
    for e in ("2e-5", "3e-5", "1e-5"):
        text = text.replace(f"damping = {e}", "damping = 0")
    for old, new in (
        ("mass = 6.0", "mass = 5.0"),
        ("mass = 4.0", "mass = 5.0"),
        ("mass = 2.5", "mass = 2.0"),
    ):
        text = text.replace(old, new)
    for line in [x for x in text.splitlines() if x.startswith("inertia")]:
        text = text.replace(line, "inertia = [0.05, 0.05, 0.05]")
    return kp.build(parse_toml(text, source="guess.toml", warnings=WarningList()))


def motion(duration: float = 20.0, seed: int = 0, n: int = 3) -> kp.motion.Trajectory:
    """A Fourier series of five harmonics."""
    rng = np.random.default_rng(seed)
    size = 0.35 / np.arange(1, 6)[:, None]
    cosines, sines = size * rng.normal(size=(2, 5, n))
    mean = rng.uniform(-0.5, 0.5, n)
    return kp.motion.fourier(mean, cosines, sines, 10.0, periods=max(1, round(duration / 10.0)))


def log(
    m: kp.Mechanism, *, duration: float = 20.0, seed: int = 0, noise: float = 0.05, position_noise: float = 0.0,
    rate: float = 200.0, path: Any = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """A log with correlated noise of the efforts: white noise through a filter of 50 ms."""
    rng = np.random.default_rng(1000 + seed)
    x = path or motion(duration, 7, m.nv)
    t = np.arange(0.0, x.duration, 1.0 / rate)
    q, qd, qdd = x.at(t)[:3]
    tau = m.inverse_dynamics(q, qd, qdd)
    white = rng.normal(size=tau.shape)
    for k in range(1, len(white)):  # e_k = a e_{k−1} + √(1 − a²) w_k
        white[k] = 0.9 * white[k - 1] + np.sqrt(1 - 0.81) * white[k]
    tau = tau + noise * white
    q = q + position_noise * rng.normal(size=q.shape)
    columns = {f"q_{name}": q[:, k] for k, name in enumerate(m.q_names)}
    return {"t": t, **columns, **{f"tau_{name}": tau[:, k] for k, name in enumerate(m.v_names)}}
