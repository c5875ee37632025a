"""A synthesised gait, improved under limits of efforts, friction cones and centres of pressure of its feet."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.motion.test_gait_roles import machine

import kinpair as kp

approx = pytest.approx
LOOPS = {"right-sole": "right-hold", "left-sole": "left-hold"}


def of_phases(x, function):
    """Values of a function of a point at the points of single and of double support."""
    count = len(x.transcription.grids[0].fractions)
    both = [x.transcription.grids[k].phase.equations for k in (0, 1)]
    values = x.values(lambda p: function(p, both.index(p.equations)))
    return values[:count], values[count:]


def mirrored(m, states):
    S = [kp.motion.leg_synergy.mirror(names) for names in (m.q_names, m.v_names)]
    return np.concatenate([S[0] @ states[: m.nq], S[1] @ states[m.nq :]])


@pytest.mark.long("two phases of 18 rates with constraints: some 20 s of compiling and solving")
@pytest.mark.parametrize("name", ["g1_29dof_rev_1_0", "biped", "talos_reduced"])
def test_a_gait_is_improved_under_limits_of_efforts_and_friction(name):
    gait = kp.motion.gait(machine(name), roles={})
    x = kp.optimise(gait, accuracy=1e-3)
    m, T = gait.mechanism, gait.step_time
    assert x.solved
    assert x.error <= 1e-3
    assert x.duration == approx(T)
    time = np.linspace(0.0, T, 2001)
    before, after = gait.efforts(time)[:, 6:], x.input_at(time)
    assert np.trapezoid((after**2).sum(1), time) <= 0.6 * np.trapezoid((before**2).sum(1), time)
    limit = m.model.joints.effort[6:]
    assert (np.abs(after) <= np.where(limit > 0, limit, np.inf) * (1 + 1e-9)).all()

    wrenches = {
        name: of_phases(
            x, lambda p, k, name=name: p.wrench(LOOPS[name], name) if k or "r" in name[0] else np.zeros(6)
        )
        for name in LOOPS
    }
    q, qd = x.states[:, : m.nq], x.states[:, m.nq :]
    qdd = x.values(lambda p: p.qdd)
    every = {name: np.concatenate(w) for name, w in wrenches.items()}
    inside = np.r_[
        1 : len(wrenches["left-sole"][0]), len(wrenches["left-sole"][0]) + 1 : len(q)
    ]  # collocation points
    chosen = {name: w[inside] for name, w in every.items()}
    found = kp.motion.support(
        m, q[inside], qd[inside], qdd[inside], gait.soles, wrenches=chosen, time=x.time[inside]
    )
    assert found.friction.max() <= 0.6
    assert found.margin.min() >= 5e-3 - 1e-6
    effort = m.inverse_dynamics(q[inside], qd[inside], qdd[inside], external=chosen)
    assert np.abs(effort[:, :6]).max() <= 1e-6  # rows without actuator
    assert effort[:, 6:] == approx(x.inputs[inside], abs=1e-6)

    end = mirrored(m, x.states[-1])
    end[0] -= gait.numbers.step
    assert end == approx(x.states[0], abs=1e-7)
    swing = np.array([m.pose(y, "left-sole").position for y in q])
    assert swing[0] == approx([-gait.numbers.step, gait.numbers.track, 0.0], abs=1e-7)
    assert swing[-1] == approx([gait.numbers.step, gait.numbers.track, 0.0], abs=1e-7)


def test_a_guess_for_several_phases_is_a_list():
    gait = kp.motion.gait(machine("biped"), roles={})
    with pytest.raises(kp.InputError, match="a guess for 2 phases is an earlier result, or a list"):
        kp.optimise(gait, guess=gait.motion(1))
