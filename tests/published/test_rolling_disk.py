"""A thin disk that rolls: closed forms of its small motions and of its steady motions.

Upright, spinning at ω: (I + m r²) θ̈ = m g r θ − (J + m r²) ω ψ̇, I ψ̈ = J ω θ̇, with J about the axle and I across it
(for instance Neĭmark and Fufaev 1972, chapter III), so that λ² = (m g r − (J + m r²) J ω²/I) / (I + m r²).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import kinpair as kp

m, r, g, I, J = 1.2, 0.1, 9.81, 0.003, 0.006
CRITICAL = np.sqrt(g / (3.0 * r))


@pytest.fixture(scope="module")
def disk() -> kp.Mechanism:
    return kp.example("rolling-disk")


def upright(disk: kp.Mechanism, spin: float, turned: float = 0.0) -> kp.LinearModel:
    """About upright rolling, the disk turned about its axle by some angle."""
    q = disk.neutral()
    q[3:] = 0.0, np.sin(turned / 2), 0.0, np.cos(turned / 2)
    return kp.linearise(disk, q, disk.velocities(q, {"disk.wx": 0.0, "disk.wy": spin, "disk.wz": 0.0}))


def square(spin: float) -> float:
    """λ²."""
    return (m * g * r - (J + m * r**2) * J * spin**2 / I) / (I + m * r**2)


@pytest.mark.parametrize("spin", [1.0, 5.0, 7.0, 20.0])
@pytest.mark.parametrize("turned", [0.0, 1.1])
def test_eigenvalues_about_upright_rolling(disk, spin, turned):
    """The two of the closed form, and zeros; whatever the mark on its rim is at."""
    model = upright(disk, spin, turned)
    assert model.steady
    expected = np.sqrt(complex(square(spin)))
    found = [x for x in model.eigenvalues if x]
    assert len(found) == 2
    assert np.sort_complex(found) == pytest.approx(np.sort_complex([-expected, expected]), rel=1e-12)


def test_critical_speed(disk):
    """Where the growth of the fastest change ends."""
    found = brentq(
        lambda spin: (upright(disk, spin).eigenvalues ** 2).real.sum(), 5.0, 6.5, xtol=1e-13, rtol=1e-14
    )
    assert found == pytest.approx(CRITICAL, rel=1e-9)


def circle(lean: float, yaw: float) -> float:
    """Spin about the axle against axes that turn with the rate `yaw`, of a thin disk that leans by `lean`.

    Its centre goes round with the speed σ r, where σ = s + yaw sin(lean) is the whole spin about the axle. Moments
    about it: yaw cos(lean) (−J σ + I yaw sin(lean)) = m r (yaw σ r cos(lean) + g sin(lean)).
    """
    total = (m * g * r * np.tan(lean) - I * yaw**2 * np.sin(lean)) / ((J + m * r**2) * -yaw)
    return total - yaw * np.sin(lean)


@pytest.mark.parametrize(("lean", "yaw"), [(0.3, -3.0), (0.8, -6.0), (0.1, -1.0)])
def test_rolling_in_a_circle(disk, lean, yaw):
    q = disk.neutral()
    q[3:] = np.sin(lean / 2), 0.0, 0.0, np.cos(lean / 2)
    x = kp.equilibrium(
        disk, q, spins={"disk": [0, 8.0, 0]}, turning=yaw, free_rates=["disk"], fixed=["disk.wx"]
    )
    assert x.spins["disk"] == pytest.approx([0.0, circle(lean, yaw), 0.0], rel=1e-9)
    model = x.linearise()
    assert model.steady
    assert len(model.core.states) == 4  # lean and three rates; it has two parameters, so two zeros
    assert np.count_nonzero(np.abs(model.core.eigenvalues) > 1e-6) == 2


def test_a_circle_comes_back_to_where_it_began(disk):
    """The steady motion found is one: after a turn of its axes the disk is where it was."""
    q = disk.neutral()
    q[3:] = np.sin(0.15), 0.0, 0.0, np.cos(0.15)
    x = kp.equilibrium(
        disk, q, spins={"disk": [0, 8.0, 0]}, turning=-3.0, free_rates=["disk"], fixed=["disk.wx"]
    )
    run = kp.simulate(
        disk, x.q, x.qd, duration=2 * np.pi / 3.0, output=2 * np.pi / 3.0, rtol=1e-12, atol=1e-12
    )
    assert run.q[-1, :3] == pytest.approx(x.q[:3], abs=1e-9)
