"""Events in modes: each happens once, whatever constraints begin or end with it."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

METHODS = [
    {"integrator": "dop853"},
    {"integrator": "dopri5"},
    {"integrator": "rk4", "dt": 1e-2},
    {"integrator": "cvode"},
]


def slider() -> kp.Mechanism:
    builder = kp.Builder("slider", gravity=(0, 0, 0)).link("slide", mass=1.0)
    return kp.build(builder.joint("x", "prismatic", "ground", "slide", axis="x"))


@pytest.mark.parametrize("options", METHODS, ids=lambda x: x["integrator"])
def test_an_event_that_ends_a_constraint_happens_once(options):
    """At 1 m/s; from x = 0.25 on a constraint keeps the speed, at x = 3 it ends and the speed grows by 1 m/s."""
    hold = kp.constraint.custom("steady", psi=lambda q, qd, time: qd[0] - 1.0)
    on = kp.Event("on", lambda time, q, qd: q[0] - 0.25, action=kp.Change(add=[hold]))

    def kick(time, q, qd):
        return kp.Change(qd=qd + 1.0, remove=["steady"])

    off = kp.Event("kick", lambda time, q, qd: q[0] - 3.0, action=kick)
    run = kp.simulate(slider(), [0.0], [1.0], duration=4.0, events=[on, off], **options)
    assert run.status.ok
    assert [event.name for event in run.events] == ["on", "kick"]
    assert run.qd[-1, 0] == pytest.approx(2.0, abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(3.0 + 2.0 * 1.0, abs=1e-8)


def test_an_event_whose_action_leads_back_happens_again():
    """A stone is thrown up wherever it passes 0 m on its way down."""
    builder = kp.Builder("stone", gravity=(0, 0, -10.0)).link("stone", mass=1.0)
    stone = kp.build(builder.joint("z", "prismatic", "ground", "stone", axis="z"))

    def up(time, q, qd):
        return kp.Change(qd=np.abs(qd))

    back = kp.Event("back", lambda time, q, qd: q[0], -1, up, every=0.5)
    run = kp.simulate(stone, [5.0], [0.0], duration=6.5, events=[back])
    times = [event.time for event in run.events]
    assert times == pytest.approx([1.0, 3.0, 5.0], abs=1e-9)
