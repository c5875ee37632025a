"""The table of integrators by what they take: each "yes" is a run with its closed form, each "no" its sentence."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kinpair as kp
from kinpair.simulation.methods.integrators import FEATURES, INTEGRATORS, PARTLY, REJECTED, table

DOCS = Path(__file__).parents[4] / "docs" / "events.md"
G, HEIGHT, LEVEL, SPEED = 10.0, 0.2, 2.0, 1.0
FALL = np.sqrt(2.0 * HEIGHT / G)


def ball():
    b = kp.Builder("ball", gravity=(0, 0, -G)).link("ball", mass=2.0)
    return kp.build(b.joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0))


def slider():
    b = kp.Builder("slider", gravity=(0, 0, 0)).link("slide", mass=1.0)
    return kp.build(b.joint("x", "prismatic", "ground", "slide", axis="x", friction=LEVEL))


def sledge():
    """On a plane under its weight: μ N = 2 N."""
    b = kp.Builder("sledge", gravity=(0, 0, -G)).link("slide", mass=1.0)
    law = {"law": "guide", "mu": 0.2, "length": 1.0, "width": 0.5}
    return kp.build(b.joint("x", "prismatic", "ground", "slide", axis="x", friction=law))


def run_of(feature, integrator, dt):
    """A run of the feature, a number that it gives, and its closed form."""
    options = {"integrator": integrator} | ({} if INTEGRATORS[integrator].adaptive else {"dt": dt})
    if feature in ("level", "load"):
        m = slider() if feature == "level" else sledge()
        run = kp.simulate(m, [0.0], [SPEED], duration=1.0, **options)
        return run, run.q[-1, 0], SPEED**2 / (2.0 * LEVEL)
    if feature == "events":
        half = kp.Event("half", lambda t, q, qd: q[0] - 0.5 * HEIGHT)
        run = kp.simulate(ball(), [HEIGHT], [0.0], duration=0.19, events=[half], **options)
        return run, run.events[0].time, FALL / np.sqrt(2.0)
    limits = "stop" if feature == "limits" else kp.Limits("bounce", restitution=0.5)
    run = kp.simulate(ball(), [HEIGHT], [0.0], duration=0.25, limits=limits, **options)
    late = 0.25 - FALL
    speed = 0.0 if feature == "limits" else 0.5 * G * FALL
    return run, run.q[-1, 0], max(0.0, speed * late - 0.5 * G * late**2 * (speed > 0.0))


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_the_table_takes_has_its_closed_form_and_what_it_does_not_its_sentence(integrator, feature):
    method = INTEGRATORS[integrator]
    if method.external:
        pytest.importorskip("sksundae" if method.external == "scikit-sundae" else "heyoka")
    sentence = REJECTED[integrator].get(feature)
    if sentence is not None:
        with pytest.raises(kp.InputError) as rejected:
            run_of(feature, integrator, 1e-3)
        assert str(rejected.value).endswith(f": integrator {integrator!r} {sentence}")
        return
    run, number, exact = run_of(feature, integrator, 1e-3)
    assert run.status.ok
    at_ends = integrator == "generalised-alpha"  # phases change at the ends of steps
    bound = 1e-2 * FALL if method.order == 1 or at_ends else 1e-7
    assert number == pytest.approx(exact, abs=bound)


def test_what_is_taken_in_part_is_rejected_elsewhere_by_name():
    assert PARTLY == {("taylor", "load"): "without kinks"}
    pytest.importorskip("heyoka")
    m = kp.example("bearing-arm")
    with pytest.raises(
        kp.InputError, match="'taylor' needs a motion without kinks, and this one contains 'abs'"
    ):
        kp.simulate(m, m.start(), np.full(m.nv, 0.5), duration=0.1, integrator="taylor")


def test_the_page_has_the_table():
    assert table() in DOCS.read_text()
    assert list(REJECTED) == list(INTEGRATORS)
    assert {x for row in REJECTED.values() for x in row} <= set(FEATURES)
    assert not any(re.search(r"\. [A-Z]", x) for row in REJECTED.values() for x in row.values())
