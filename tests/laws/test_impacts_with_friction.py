"""Friction from load acts in impacts by Coulomb's impulse, at limits and where a constraint begins."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.constraints.rows.bounded import BoundedRow, stacked
from kinpair.constraints.solve.stick import response
from kinpair.friction.surfaces.surface import LINEAR, LoadPart
from kinpair.simulation.driver.impacts import Impact, RoughSurfaces, Struck, impact

GUIDE = {"law": "guide", "mu": 0.3, "length": 0.5, "width": 0.4}
BEARING = {"law": "bearing", "mu": 0.1, "radius": 0.02, "thrust_radius": 0.0, "length": 0.1}
FALL = 0.2
LANDS = np.sqrt(2.0 * FALL / 9.81)
SPEED = np.sqrt(2.0 * 9.81 * FALL)
LAWS = ["newton", "poisson"]


def block(first: str = "x") -> kp.Mechanism:
    """A block that slides along x on a guide and falls along z on a stop, and a pendulum that nothing strikes."""
    second = "z" if first == "x" else "x"
    joints = {"x": {"axis": "x", "friction": GUIDE}, "z": {"axis": "z", "lower": 0.0, "start": FALL}}
    b = kp.Builder("block").link("carriage").link("block", mass=2.0, inertia=(0.01, 0.01, 0.01))
    b.joint(first, "prismatic", "ground", "carriage", **joints[first])
    b.joint(second, "prismatic", "carriage", "block", **joints[second])
    b.link("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.01, 0.01, 0.01))
    return kp.build(b.joint("pivot", "revolute", "ground", "bob", axis="y", friction=BEARING))


def dropped(m: kp.Mechanism, limits: object = "stop", speed: float = 1.0, **options: object) -> kp.Result:
    return kp.simulate(m, m.start(), {"x": speed}, duration=0.25, limits=limits, **options)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("first", ["x", "z"])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_guide_brakes_a_block_that_lands_by_mu_times_the_impulse(first, e, law):
    """v⁺ = v − μ (1 + e) √(2 g h), the load of the guide being the impulse of the stop."""
    m = block(first)
    run = dropped(m, kp.Limits("bounce", restitution=e, impact=law))
    hit, x = run.events[0], m.v_names.index("x")
    assert hit.time == pytest.approx(LANDS, abs=1e-12)
    assert hit.qd[x] == pytest.approx(1.0 - 0.3 * (1.0 + e) * SPEED, abs=1e-12)
    assert run.status.name == "done"
    assert run.balance.relative < 1e-10
    energy = 0.5 * 2.0 * (SPEED**2 * (1.0 - e * e) + 1.0 - hit.qd[x] ** 2)
    assert hit.lost == pytest.approx(energy, rel=1e-10)


def test_an_impulse_stops_a_slow_block_and_no_more():
    run = dropped(block(), speed=0.3)
    assert run.events[0].qd[0] == 0.0
    assert run.qd[-1, 0] == 0.0


def test_springs_at_stops_brake_as_coulombs_impulse_does():
    """The impulse of the guide is that of the weight and of the change of the fall, whatever the rebound."""
    run = dropped(block(), kp.Limits("spring", stiffness=2e5, damping=900.0))
    impulse = run.qd[-1, 1] + 9.81 * 0.25  # for a unit of mass
    assert run.qd[-1, 0] == pytest.approx(1.0 - 0.3 * impulse, abs=1e-8)
    assert run.qd[-1, 0] < 0.45
    assert str(run.status) == "Reached t = 0.25 s"


def test_a_constraint_that_begins_brakes_by_its_impulse():
    """At 0.1 m the fall is held: v⁺ = v − μ √(2 g 0.1)."""
    m = block()
    lock = kp.Event(
        "lock", lambda t, q, qd: q[1] - 0.1, -1, kp.Change(add=[kp.constraint.drive("hold", "z", "0.1")])
    )
    run = kp.simulate(m, m.start(), {"x": 1.0}, duration=0.2, events=[lock])
    assert run.events[0].qd[0] == pytest.approx(1.0 - 0.3 * np.sqrt(2 * 9.81 * 0.1), abs=1e-11)


def test_an_impact_does_not_brake_a_joint_that_transmits_no_impulse():
    """The pendulum swings as if nothing had landed elsewhere."""
    b = kp.Builder("apart").link("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.01, 0.01, 0.01))
    b.joint("pivot", "revolute", "ground", "bob", axis="y", friction=BEARING)
    b.link("ball", mass=1.0).joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0)
    m = kp.build(b)
    run = kp.simulate(m, {"drop": 0.1}, {"pivot": 1.0}, duration=0.3, limits="bounce")
    hits = [x for x in run.events if "limit" in x.name]
    assert len(hits) > 1
    assert all(x.qd[0] == pytest.approx(x.qd_before[0], abs=1e-15) for x in hits)


def test_a_run_without_passive_forces_has_no_friction_in_impacts():
    run = dropped(block(), passive=False)
    assert run.events[0].qd[0] == pytest.approx(1.0, abs=1e-15)


def test_a_file_keeps_the_part_of_the_restitution(tmp_path):
    run = dropped(block(), save=tmp_path / "run.h5")
    stored = kp.load_run(tmp_path / "run.h5")
    assert [x.beta for x in stored.events] == [x.beta for x in run.events] == [1.0]


class Tip:
    """A rough point: its load is the impulse of the ground."""

    kind, name = "tip", "tip"

    def parts(self, at):
        return [LoadPart(LINEAR, np.eye(1), np.zeros(1))]


def strike(
    angles: tuple[float, float], qd: np.ndarray, mu: float, e: float, law: str
) -> tuple[Struck, Impact]:
    """The tip of a double pendulum of two rods strikes rough ground (Kane & Levinson 1985, a problem of their kind)."""
    b = kp.Builder("kane").link("a", mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 1e-3))
    b.link("b", mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 1e-3)).frame(
        "tip", "b", xyz=(0, 0, -1.0)
    )
    b.joint("p", "revolute", "ground", "a", axis="y").joint(
        "q", "revolute", "a", "b", axis="y", xyz=(0, 0, -1.0)
    )
    m, q = kp.build(b), np.array([angles[0], angles[1] - angles[0]])
    J = m.jacobian(q, "tip")
    N, S, M = J[5:6], J[3:4], m.mass_matrix(q)
    rows = stacked([BoundedRow("ground", 0.0, float((N @ qd)[0]), N[0])], 2)
    of_ground = np.linalg.inv(np.concatenate([N, S]).T)[:1]  # Λ of impulses on the rates
    rough = RoughSurfaces([Tip()], S, [slice(0, 1)], np.array([mu]), [np.zeros(1)], [of_ground])
    struck = Struck(M, response(M, np.zeros((0, 2))), rows, rough)
    return struck, impact(struck, qd, np.array([e]), law)


@pytest.mark.parametrize("law", LAWS)
def test_a_rough_tip_of_a_double_pendulum_creates_no_energy(law):
    """By either law, for 60 random strikes; Newton's law alone would create energy in some of them."""
    rng = np.random.default_rng(5)
    reduced = 0
    for _ in range(60):
        angles = rng.uniform(0.2, 1.0), rng.uniform(0.2, 1.0)
        qd, mu, e = rng.normal(size=2), rng.uniform(0.1, 0.8), rng.uniform(0.5, 1.0)
        struck, after = strike(angles, qd, mu, e, law)
        assert struck.energy(after.qd) <= struck.energy(qd) * (1.0 + 1e-9)
        assert (struck.rows.N @ after.qd > -1e-9).all()
        reduced += after.beta < 1.0
        if law == "newton" and after.beta < 1.0:
            assert struck.energy(struck.after(qd, np.array([e]), law)) > struck.energy(qd)
    assert (reduced > 0) == (law == "newton")
