"""What a run gives of contact: forces, centre of pressure, phases, losses, files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinpair as kp

G = 9.81


@pytest.fixture(scope="module")
def slid():
    b = kp.Builder("block")
    b.link("block", mass=2.0, inertia=[0.004] * 3)
    b.joint("free", "free", "ground", "block", start=[0, 0, 0.05, 0, 0, 0, 1])
    b.contact("floor", "ground", plane=True, mu=0.5).contact("body", "block", box=[0.1] * 3)
    m = kp.build(b)
    rates = [0, 0, 0, 1.0, 0, 0]
    return kp.simulate(m, m.start(), rates, duration=0.5, integrator="time-stepping", dt=1e-3, output=0.01)


def test_forces_of_a_sliding_block_carry_its_weight_and_brake_it(slid):
    pair = slid.contacts.pairs["body on floor"]
    slides = (slid.time > 0.005) & (slid.time < 0.2)  # it stops after v/(μ g) = 0.204 s
    assert_allclose(pair.normal[1:], 2.0 * G, rtol=1e-9)
    assert_allclose(pair.force[slides, 0], -0.5 * 2.0 * G, rtol=1e-9)
    assert_allclose(pair.force[slid.time > 0.21, 0], 0.0, atol=1e-9)


def test_the_centre_of_pressure_is_ahead_of_a_block_that_brakes(slid):
    centre = slid.contacts.pairs["body on floor"].centre
    ahead = centre[:, 0] - slid.q[:, 0]
    assert_allclose(
        ahead[(slid.time > 0.005) & (slid.time < 0.2)], 0.5 * 0.05, atol=2e-3
    )  # μ times its height
    assert_allclose(ahead[slid.time > 0.21], 0.0, atol=1e-6)


def test_points_slide_then_rest(slid):
    for point in slid.contacts.points.values():
        assert set(point.phase[(slid.time > 0.005) & (slid.time < 0.2)]) == {2}
        assert set(point.phase[slid.time > 0.21]) == {1}


def test_friction_takes_the_kinetic_energy(slid):
    assert_allclose(slid.contacts.friction_loss[-1], 1.0, rtol=1e-9)
    assert abs(slid.contacts.impact_loss[-1]) < 1e-9
    assert slid.balance.relative < 1e-9
    assert slid.contacts.solved.all()


def test_forces_of_four_points_are_not_unique(slid):
    assert not slid.contacts.unique[1:].any()


def test_a_file_has_the_contact_of_its_run(slid, tmp_path):
    slid.save(tmp_path / "run.h5")
    again = kp.load_run(tmp_path / "run.h5")
    assert (again.touching == slid.touching).all()
    assert (again.contacts.pairs["body on floor"].force == slid.contacts.pairs["body on floor"].force).all()


def test_a_picture_and_a_summary_show_contact(slid):
    titles = [x.get_title(loc="left") for x in slid.plot().axes]
    assert any("contact forces" in x for x in titles)
    assert "Contact:" in slid.summary


def test_a_run_without_geoms_says_how_to_get_contact():
    m = kp.example("double-pendulum")
    run = kp.simulate(m, m.start(), np.zeros(m.nv), duration=0.1)
    with pytest.raises(kp.InputError, match="give it geoms"):
        _ = run.contacts
