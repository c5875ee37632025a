"""Efficiencies of a gear by direction: raising, lowering and holding a load; self-locking."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.toml_writer import write_toml

LOAD, INERTIA, ROTOR = 7.0, 0.04, 1e-4 * 30**2
PAIRS = [(0.8, 0.7), (0.5, 0.5), (0.6, 0.9), (0.4, -0.5), (1.0, 0.6)]


@cache
def hoist(eta: float, back: float | None = None) -> kp.Mechanism:
    """A drum behind a gear; the load on its rope is an external torque."""
    law = {"law": "gear", "efficiency": eta, **({} if back is None else {"efficiency_back": back})}
    b = kp.Builder("hoist", gravity=(0, 0, 0)).link("drum", mass=3, inertia=(0.02, 0.02, INERTIA))
    b.joint("gear", "revolute", "ground", "drum", axis="z", friction=law, rotor_inertia=1e-4, gear_ratio=30)
    return kp.build(b)


def hanging(load: float = LOAD) -> dict[str, np.ndarray]:
    return {"drum": np.array([0, 0, -load, 0, 0, 0])}


@pytest.mark.parametrize(("eta", "back"), PAIRS)
def test_raising_and_lowering_at_constant_speed(eta, back):
    """The motor gives T/η up and η_b T down, whichever sign the load has."""
    m = hoist(eta, back)
    for load, up in ((LOAD, 1.0), (-LOAD, -1.0)):
        raising = m.inverse_dynamics([0.1], [2.0 * up], [0.0], external=hanging(load))
        lowering = m.inverse_dynamics([0.1], [-2.0 * up], [0.0], external=hanging(load))
        assert raising == pytest.approx([load / eta], rel=1e-12)
        assert lowering == pytest.approx([load * back], rel=1e-12, abs=1e-12)
        for rate, tau in ((2.0, raising), (-2.0, lowering)):
            qdd = m.forward_dynamics([0.1], [rate * up], tau, external=hanging(load))
            assert qdd == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize(("eta", "back"), PAIRS)
@pytest.mark.parametrize("compiled", [True, False])
def test_a_load_rests_between_the_efforts_of_lowering_and_raising(eta, back, compiled):
    """Beyond them it moves as T = c − I q̈ says: (I + J) q̈ = τ − c − friction, T = c + I q̈ in closed form."""
    m = hoist(eta, back) if compiled else hoist(eta, back).reference
    up, down = LOAD / eta, back * LOAD
    for tau in (down + 0.02, 0.5 * (up + down), up - 0.02):
        assert m.forward_dynamics([0.1], [0.0], [tau], external=hanging()) == 0.0
    # raising: τ = J q̈ + (c + I q̈)/η; lowering, T still positive: τ = J q̈ + η_b (c + I q̈)
    raised = m.forward_dynamics([0.1], [0.0], [up + 0.5], external=hanging())
    assert raised == pytest.approx([0.5 / (ROTOR + INERTIA / eta)], rel=1e-12)
    lowered = m.forward_dynamics([0.1], [0.0], [down - 0.05], external=hanging())
    rate = ROTOR + back * INERTIA
    if rate > 0.0:
        assert lowered == pytest.approx([-0.05 / rate], rel=1e-9)


def test_one_efficiency_is_a_coefficient_and_locks_from_one_half():
    """η_b = 2 − 1/η: the same friction in both directions, μ = 1/η − 1."""
    for eta in (0.9, 0.55, 0.45):
        m, push = hoist(eta), hanging()
        lowering = m.inverse_dynamics([0.1], [-1.0], [0.0], external=push)
        assert lowering == pytest.approx([LOAD * (2.0 - 1.0 / eta)], rel=1e-12)
        still = m.forward_dynamics([0.1], [0.0], [0.0], external=push)
        assert (still[0] == 0.0) == (eta < 0.5)
        law = {"law": "gear", "mu": 1.0 / eta - 1.0}
        b = kp.Builder("hoist", gravity=(0, 0, 0)).link("drum", mass=3, inertia=(0.02, 0.02, INERTIA))
        b.joint(
            "gear", "revolute", "ground", "drum", axis="z", friction=law, rotor_inertia=1e-4, gear_ratio=30
        )
        other = kp.build(b).reference
        for rate, tau in ((1.0, 9.0), (-1.0, 3.0)):
            expected = other.forward_dynamics([0.1], [rate], [tau], external=push)
            assert m.forward_dynamics([0.1], [rate], [tau], external=push) == pytest.approx(
                expected, rel=1e-12
            )


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
@pytest.mark.parametrize(("eta", "back"), [(0.8, 0.7), (0.5, 0.5)])
def test_a_run_sticks_between_lowering_and_raising(eta, back, integrator):
    """The motor effort falls from above T/η: the drum slows, stops, rests, and is lowered from τ = η_b T on."""
    m, start, fall = hoist(eta, back), LOAD / eta + 1.0, 6.0
    options = {"dt": 1e-3} if integrator == "rk4" else {}
    duration = round((start - back * LOAD) / fall + 0.2, 2)
    run = kp.simulate(
        m, [0.0], [0.0], duration=duration, integrator=integrator, external=hanging(),
        torque=lambda t, q, qd: np.array([start - fall * t]), **options,
    )  # fmt: skip
    stop, leave = [x.time for x in run.events if x.name in ("gear sticks", "gear slides")][-2:]
    reversal = 2.0 * (start - LOAD / eta) / fall  # ∫(start − fall t − T/η) dt = 0 while it is raised
    assert stop == pytest.approx(reversal, abs=1e-7)
    assert leave == pytest.approx((start - back * LOAD) / fall, abs=1e-7)
    assert run.qd[-1][0] < 0.0


def test_derivatives_of_a_gear_with_efficiencies():
    """They are affine in the efforts while the direction stays: compared with differences."""
    m = hoist(0.7, 0.4)
    for rate, tau in ((2.0, 11.0), (-2.0, 1.0), (0.0, 12.0)):
        state = np.array([0.1]), np.array([rate]), np.array([tau])
        by_tau = m.forward_dynamics_derivatives(*state, external=hanging())[2]
        ends = [m.forward_dynamics(*state[:2], state[2] + s, external=hanging()) for s in (1e-3, -1e-3)]
        assert by_tau[0] == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=1e-8)


def test_a_file_with_efficiencies_is_written_as_it_is_read(tmp_path):
    path = tmp_path / "hoist.toml"
    write_toml(hoist(0.8, 0.7).model.description, path)
    assert "efficiency = 0.8" in path.read_text()
    again = kp.load(path)
    state = [0.1], [-2.0], [3.0]
    assert again.forward_dynamics(*state) == pytest.approx(
        hoist(0.8, 0.7).forward_dynamics(*state), rel=1e-14
    )


@pytest.mark.parametrize("settings", [{}, {"integrator": "rk4", "dt": 1e-3}, {"integrator": "cvode"}])
@pytest.mark.parametrize("brake", [False, True])
def test_a_level_next_to_a_gear_is_a_load_of_its_teeth(brake, settings):
    """M v̇ + L = T = τ − μ (T + P): it leaves rest at τ = L (1 + μ) + μ P, and friction does not jump there."""
    mass, mu, preload, level, growth = 2.0, 0.2, 0.3, 0.7, 2.0
    friction = [{"law": "gear", "mu": mu, "preload": preload}]
    b = kp.Builder("slide", gravity=(0, 0, 0)).link("slide", mass=mass, inertia=[1] * 3)
    own = [] if brake else [{"law": "coulomb", "level": level}]
    b.joint("x", "prismatic", "ground", "slide", axis="x", friction=friction + own)
    if brake:
        b.brake("clamp", "x", level={"input": "pedal", "scale": level})
        times = np.linspace(0.0, 1.0, 3)
        drive = {"input": (times, np.stack([np.ones(3), growth * times], axis=-1))}
    else:
        drive = {"torque": lambda t, q, qd: growth * t + 0.0 * q}
    run = kp.simulate(kp.build(b), [0.0], [0.0], duration=1.0, **drive, **settings)
    leaves = ((1.0 + mu) * level + mu * preload) / growth
    since = np.maximum(run.time - leaves, 0.0)
    assert [x.name for x in run.events] == ["x slides"]
    assert run.events[0].time == pytest.approx(leaves, abs=1e-9)
    assert run.qd[:, 0] == pytest.approx(growth * since**2 / (2.0 * (1.0 + mu) * mass), abs=1e-8)
