"""A run that is cut while joints slide, stick or bounce goes on as if it had not been, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from families import family

MOMENTS = tuple(f"{x:.3f}" for x in np.random.default_rng(1).random(50))
SETTINGS = [{}, {"integrator": "dopri5"}, {"integrator": "rk4", "dt": 1e-3}]


def mechanism() -> kp.Mechanism:
    """A block that bounces while its guide brakes it, and a slider between two stops that sticks and slides."""
    b = kp.Builder("mixed").link("carriage").link("block", mass=2.0, inertia=(0.01, 0.01, 0.01))
    guide = {"law": "guide", "mu": 0.3, "length": 0.5, "width": 0.4}
    b.joint("x", "prismatic", "ground", "carriage", axis="x", friction=guide)
    b.joint("z", "prismatic", "carriage", "block", axis="z", lower=0.0, start=0.2)
    dry = {"law": "coulomb", "level": 2.0, "level_static": 3.0}
    b.link("slider", mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.joint("y", "prismatic", "ground", "slider", axis="y", friction=dry, stiffness=50.0, upper=0.1)
    return kp.build(b.stop("floor", links=["ground", "slider"], axis="y", lower=-0.15))


def push(t, q, qd):
    return np.array([3 * np.sin(5 * t), 0 * t, 6 * np.sin(2 * t), 0 * t])


def run(settings: dict, **options: object) -> kp.Result:
    limits = kp.Limits("bounce", restitution=0.5)
    start = {"x": 0.0, "z": 0.2, "y": 0.0}, {"x": 1.0, "z": 0.0, "y": 1.0}
    own = {"duration": 3.0, "output": 0.003, "torque": push, "limits": limits}
    return kp.simulate(mechanism(), *start, **own, **settings, **options)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("moment", family(MOMENTS, MOMENTS[:3], "each is one more moment of the same run"))
def test_a_run_that_is_resumed_is_the_whole_run(moment, settings, tmp_path):
    def interrupt(part: float) -> None:
        if part > float(moment):
            raise KeyboardInterrupt

    whole = run(settings)
    assert len(whole.events) > 20
    path = tmp_path / "run.h5"
    assert run(settings, save=path, progress=interrupt).status.name == "interrupted"
    again = kp.resume(path, torque=push)
    assert np.array_equal(again.q, whole.q)
    assert np.array_equal(again.qd, whole.qd)
    assert [(x.name, x.time) for x in again.events] == [(x.name, x.time) for x in whole.events]
