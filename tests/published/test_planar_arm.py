"""Three-link planar arm (E1; data of Shah & Saha, ReDySim)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinpair as kp
from kinpair.evaluation.quantities.request import METHODS
from kinpair.formulations import denoc
from published.cycloid import along

PRINTED = 1e-11
Q, QD = np.array([0.3, -0.4, 0.5]), np.array([1, -2, 0.5])
CONVECTIVE = (0.003707708639, -0.010648391492, 0.004943611518)
GRAVITY = (4.189276456383, 1.518298933261, 0.298175075589)
TORQUES = {
    0.0: (4.34583, 1.54998, 0.32373),
    2.5: (3.982914426246, 1.274541631561, 0.221226314113),
    5.0: (-1.286948067067, -1.227730440660, 0.013027877809),
    7.5: (-1.869508480881, 0.818789239436, -0.213141935143),
    10.0: (-1.89333, 0.90252, -0.32373),
}


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("planar-3r")


def by_every_formulation_of(quantity: str):
    return pytest.mark.parametrize("method", METHODS[quantity])


@by_every_formulation_of("inverse_dynamics")
@pytest.mark.parametrize("time", TORQUES)
def test_torques_along_the_cycloid(arm, time, method):
    tau = arm.inverse_dynamics(*along((0, 0, 0), (np.pi,) * 3, 10.0, time), method=method)
    assert tau == pytest.approx(TORQUES[time], abs=PRINTED, rel=0)


def test_extremes_of_the_torques_along_the_cycloid(arm):
    time = np.arange(0, 10.0025, 0.005)
    motion = [along((0, 0, 0), (np.pi,) * 3, 10.0, t) for t in time]
    tau = arm.inverse_dynamics(*(np.array(x) for x in zip(*motion, strict=True)))
    assert tau.min(0) == pytest.approx((-1.897254, -1.311806, -0.324331), abs=1e-5, rel=0)
    assert tau.max(0) == pytest.approx((4.385284, 1.566953, 0.330456), abs=1e-5, rel=0)
    assert time[tau.argmin(0)] == pytest.approx((8.755, 4.725, 9.250))
    assert time[tau.argmax(0)] == pytest.approx((1.190, 1.100, 5.845))


@by_every_formulation_of("mass_matrix")
def test_mass_matrix(arm, method):
    H = (
        (0.213184102627, 0.090793774116, 0.021930597372),
        (0.090793774116, 0.046403445605, 0.012080056136),
        (0.021930597372, 0.012080056136, 0.00484),
    )
    H0 = (
        (0.221223333333, 0.095823333333, 0.02299),
        (0.095823333333, 0.048423333333, 0.01309),
        (0.02299, 0.01309, 0.00484),
    )
    assert np.abs(arm.mass_matrix(Q, method=method) - H).max() < PRINTED
    assert np.abs(arm.mass_matrix(np.zeros(3), method=method) - H0).max() < PRINTED


@by_every_formulation_of("coriolis_matrix")
def test_convective_matrix(arm, method):
    C = (
        (-0.029701479783, -0.016086642771, 0.002471805759),
        (-0.015592467359, -0.001977630347, 0.001977630347),
        (-0.002966909869, -0.003955260693, 0),
    )
    result = arm.coriolis_matrix(Q, QD, method=method)
    assert np.abs(result - C).max() < PRINTED
    assert result @ QD == pytest.approx(CONVECTIVE, abs=PRINTED, rel=0)


@by_every_formulation_of("gravity_forces")
def test_gravity_torques(arm, method):
    assert arm.gravity_forces(Q, method=method) == pytest.approx(GRAVITY, abs=PRINTED, rel=0)


@by_every_formulation_of("bias_forces")
def test_bias_torques(arm, method):
    """h = C q̇ + gravity, two printed numbers: twice the last place."""
    h = np.array(CONVECTIVE) + GRAVITY
    assert arm.bias_forces(Q, QD, method=method) == pytest.approx(h, abs=2 * PRINTED, rel=0)


def test_factors_of_reverse_elimination(arm):
    """U_ij = p_iᵀ B_jiᵀ ψ_j and D, rebuilt from H: H = U D Uᵀ with U unit upper-triangular."""
    D = denoc.solve(arm.model, Q, np.zeros(3)).pivots
    assert pytest.approx((0.033819737474, 0.016253082745, 0.00484), abs=PRINTED, rel=0) == D
    U = np.array(
        [[1, 2.218511355531, 4.531115159473], [0, 1, 2.495879366859], [0, 0, 1]],
    )
    assert np.abs(U @ np.diag(D) @ U.T - arm.mass_matrix(Q)).max() < 10 * PRINTED


@by_every_formulation_of("forward_dynamics")
def test_forward_dynamics(arm, method):
    qdd = (-3.219534893217, -66.732075425882, 139.176622634376)
    result = arm.forward_dynamics(Q, QD, [0.5, -0.2, 0.1], method=method)
    assert result == pytest.approx(qdd, abs=PRINTED, rel=0)


def test_free_fall(arm):
    """The motion is sensitive: 2e-10 between tolerances 1e-13 and 1e-11; nine decimals are printed."""

    def fall(_, x):
        return np.concatenate([x[3:], arm.forward_dynamics(x[:3], x[3:], np.zeros(3))])

    run = solve_ivp(fall, (0, 3), np.zeros(6), method="DOP853", rtol=1e-13, atol=1e-13, t_eval=[1, 3])
    at_1 = (-2.254069438, -1.101286931, -0.167747284, 4.839476221, 2.852131912, -18.977059587)
    at_3 = (-0.853981342, 0.237917852, 0.824508310, 10.255214550, -14.837898094, 7.126855389)
    assert run.y[:, 0] == pytest.approx(at_1, abs=1e-8, rel=0)
    assert run.y[:, 1] == pytest.approx(at_3, abs=1e-8, rel=0)
    energy = [sum(arm.energy(x[:3], x[3:])) for x in run.y.T]
    assert np.abs(energy).max() < 1e-11  # starts at rest at height zero
