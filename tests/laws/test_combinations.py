"""Every integrator with events, limits, impacts, levels and loads: it runs to the closed form, or is rejected by the
sentence of the table."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kinpair as kp
from families import family
from kinpair.simulation.methods.integrators import FEATURES, REJECTED

G = 9.81
FIXED = {
    "rk4",
    "semi-implicit-euler",
    "implicit-midpoint",
    "variational",
    "generalised-alpha",
    "time-stepping",
}
FIRST_ORDER = {"semi-implicit-euler": 5e-3, "time-stepping": 2e-3}  # dt = 1 ms


@cache
def body(axis: str, **keys: Any) -> kp.Mechanism:
    b = kp.Builder("body").link("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
    own = {"law": "guide", "mu": 0.2, "length": 0.3, "width": 0.3} if keys.pop("guide", False) else None
    keys |= {} if own is None else {"friction": own}
    return kp.build(b.joint("x", "prismatic", "ground", "a", axis=axis, **keys))


CASES: dict[str, tuple[Any, list[float], list[float], dict[str, Any], float]] = {
    "events": (
        lambda: body("z"),
        [1.0],
        [0.0],
        {"events": [kp.Event("half", lambda t, q, qd: q[0] - 0.5)]},
        1.0 - G / 2 * 0.64,
    ),
    "limits": (lambda: body("z", lower=0.0), [0.2], [0.0], {"limits": "stop"}, 0.0),
    "impact": (
        lambda: body("z", lower=0.0),
        [0.2],
        [0.0],
        {"limits": kp.Limits("bounce", restitution=0.5)},
        0.0,
    ),
    "level": (lambda: body("x", friction=2.0), [0.0], [1.0], {}, 1.0 / (2.0 * 2.0)),
    "load": (lambda: body("x", guide=True), [0.0], [1.0], {}, 1.0 / (2.0 * 0.2 * G)),
}
NAMES = [f"{integrator} {feature}" for integrator in REJECTED for feature in FEATURES]
USUAL = [
    x for x in NAMES if x.split()[0] in ("semi-implicit-euler", "cvode", "variational", "generalised-alpha")
]


@pytest.mark.parametrize("case", family(NAMES, USUAL, "each is one more integrator with the same mechanisms"))
def test_a_combination_runs_or_is_rejected_by_its_sentence(case):
    integrator, feature = case.split()
    make, q, qd, options, end = CASES[feature]
    step = {"dt": 1e-3} if integrator in FIXED else {}

    def run() -> kp.Result:
        return kp.simulate(make(), q, qd, duration=0.8, integrator=integrator, **step, **options)

    if sentence := REJECTED[integrator].get(feature):
        with pytest.raises(kp.InputError) as caught:
            run()
        assert str(caught.value) == f"body: integrator {integrator!r} {sentence}"
        return
    result = run()
    assert result.status.name == "done"
    assert result.q[-1, 0] == pytest.approx(end, abs=FIRST_ORDER.get(integrator, 1e-7))


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "cvode"])
def test_small_bounces_end_though_a_step_only_grazes_the_limit(integrator):
    """The rate at which a step comes to the limit may be as small as rounding; the way back by slack is none."""
    step = {"dt": 1e-3} if integrator in FIXED else {}
    for e in (0.3, 0.5, 0.7):
        limits = kp.Limits("bounce", restitution=e)
        run = kp.simulate(
            body("z", lower=0.0), [0.2], [0.0], duration=1.5, limits=limits, integrator=integrator, **step
        )
        assert run.status.name == "done"
        assert np.diff([x.time for x in run.events]).min() > 0.0
        assert run.qd[-1, 0] == 0.0
