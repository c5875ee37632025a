"""What a simulation under constraints, or by another library, says when something is wrong with the wish."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import closed
import kinpair as kp
from endings import failed, stopped
from kinpair.simulation.methods import integrators

STIFF = 'install it with pip install ".[stiff]" in the folder of kinpair\'s sources'


class Opaque:
    """A torque that cannot be recorded, and fails after half a second."""

    def __call__(self, time, q, qd):
        if time > 0.5:
            raise RuntimeError("the motor is on fire")
        return np.zeros(2)


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


def test_a_run_of_many_loops_that_share_a_branch_says_so(monkeypatch):
    """Four-bars in a row (IFToMM): couplers behind each other, whose loops are all open at the first one."""
    monkeypatch.setattr(integrators, "ROOM", 20_000)
    b, n = kp.Builder("row", gravity=(0, -9.81, 0)), 19
    rod = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [1e-6, 1 / 12, 1 / 12]}
    b.link("v0", **rod).joint("v0", "revolute", "ground", "v0", rpy=[0, 0, np.pi / 2])
    for i in range(1, n + 1):
        on, turn = ("v0", -np.pi / 2) if i == 1 else (f"h{i - 1}", 0.0)
        b.link(f"h{i}", **rod).joint(f"h{i}", "revolute", on, f"h{i}", xyz=[1, 0, 0], rpy=[0, 0, turn])
        b.link(f"v{i}", **rod).joint(
            f"v{i}", "revolute", "ground", f"v{i}", xyz=[i, 0, 0], rpy=[0, 0, np.pi / 2]
        )
        b.loop(f"l{i}", "pin", f"h{i}", f"v{i}", xyz=[1, 0, 0], child_xyz=[1, 0, 0])
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(kp.build(b), duration=1.0)
    assert str(refused.value) == (
        "row: a formula of this run of 39 bodies has more than 20000 operations; runs of that length are loops over "
        "the bodies, and this one has none: 38 rows of loops are open at one body, at most 36 are eliminated in loops; "
        "choose joints and loop constraints such that each loop closes near to where it begins; see "
        "docs/long_mechanisms.md"
    )


@pytest.mark.parametrize("method", ["implicit-midpoint", "variational"])
def test_methods_without_multipliers_take_no_constraints(method):
    linkage = kp.example("four-bar")
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(linkage, closed.start("four-bar"), np.zeros(3), duration=1.0, integrator=method)
    assert str(refused.value) == (
        f"four-bar: integrator {method!r} takes no constraints; 'rk4', 'dop853' and the other explicit ones do, "
        "and 'generalised-alpha'"
    )


def test_ida_takes_no_rows_that_take_turns():
    bennett, q = kp.example("bennett"), closed.start("bennett")
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(bennett, q, bennett.velocities(q, {"q1": 1.0}), duration=1.0, integrator="ida")
    assert str(refused.value) == (
        "bennett: integrator 'ida' needs constraint rows of which the same ones are independent throughout; 'cvode' "
        "and 'generalised-alpha' take any"
    )


def test_ida_ends_where_rows_that_take_turns_begin(arm):
    begin = [
        kp.constraint.custom("stop", phi=lambda q, t: q[0] - 0.1),
        kp.constraint.custom("sometimes", phi=lambda q, t: (q[0] - 0.1) * q[1]),
    ]
    event = kp.Event("low", lambda time, q, qd: q[0] - 0.1, action=kp.Change(add=begin))
    run = failed(arm, [0.3, 0.2], [0, 0], duration=1.0, integrator="ida", output=0.01, events=[event])
    assert run.status.name == "refused"
    assert run.status.message == (
        f"Stopped at t = {run.status.time:.9g} s: double-pendulum: integrator 'ida' needs constraint rows of which "
        "the same ones are independent throughout; 'cvode' and 'generalised-alpha' take any"
    )
    assert len(run.time) > 10
    assert run.status.time - 0.01 < run.time[-1] <= run.status.time


def test_taylor_takes_no_kinks(arm):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(
            arm, [0.3, 0.2], [0, 0], duration=1.0, integrator="taylor",
            torque=lambda time, q, qd: -np.abs(qd),
        )  # fmt: skip
    assert str(refused.value) == (
        "integrator 'taylor' needs a motion without kinks, and this one contains 'abs' (friction, limits, or a choice "
        "in a torque); 'dop853' and 'cvode' take it"
    )


def test_taylor_takes_no_python(arm):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, [0.3, 0.2], [0, 0], duration=1.0, integrator="taylor", torque=Opaque())
    assert str(refused.value) == (
        "double-pendulum: integrator 'taylor' takes efforts that are constant, sampled, or recorded; "
        "write torque= in NumPy terms (docs/compiler.md), or give it a sample_time"
    )


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_a_torque_that_fails_ends_the_run_and_keeps_what_there_is(arm, method, capfd):
    run = failed(arm, [0.3, 0.2], [0, 0], duration=1.0, output=0.05, torque=Opaque(), integrator=method)
    assert run.status.name == "refused"
    assert run.status.message.endswith("torque raised RuntimeError: the motor is on fire")
    assert 0.4 < run.time[-1] <= 0.5
    assert np.isfinite(run.q).all()


@pytest.mark.parametrize(
    ("method", "module", "message"),
    [
        (
            "cvode",
            "sksundae.cvode",
            "integrators 'cvode' and 'ida' need scikit-sundae; " + STIFF,
        ),
        (
            "ida",
            "sksundae.ida",
            "integrators 'cvode' and 'ida' need scikit-sundae; " + STIFF,
        ),
        ("taylor", "heyoka", "integrator 'taylor' needs heyoka; " + STIFF),
    ],
)
def test_a_library_that_is_missing_is_asked_for(arm, method, module, message, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(kp.MissingExtraError) as refused:
        kp.simulate(arm, [0.3, 0.2], [0, 0], duration=1.0, integrator=method)
    assert str(refused.value) == message


def test_screws_need_inertia_at_every_joint():
    parts = (
        kp.Builder("rails")
        .link("a", mass=1.0)
        .link("b")
        .joint("x", "prismatic", "ground", "a", axis="x")
        .joint("y", "prismatic", "ground", "b", axis="y")
        .gear("gear", "y", "x", 2.0)
    )
    rails = kp.build(parts)
    assert rails.warnings == ()  # the gear holds the slide
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(rails, [0.0, 0.0], [0.0, 0.0], duration=1.0, solver="screw")
    assert str(refused.value) == (
        "rails: solver 'screw' works body by body, and there is a joint that moves nothing with inertia; "
        "'multipliers' lets the constraints make up for it"
    )


def test_a_start_that_does_not_obey_is_told_what_and_how_far():
    linkage = kp.example("four-bar")
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(linkage, np.zeros(3), np.zeros(3), duration=1.0)
    assert str(refused.value) == (
        "four-bar: q does not obey the constraints: 'pin' stays open by 0.33; assemble(q) gives one that does, "
        "hold='none' lets it be"
    )
    let_be = stopped(linkage, np.zeros(3), np.zeros(3), duration=0.01, hold="none")
    assert len(let_be.time) > 1
    q = linkage.start()
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(linkage, q, [1.0, 0.0, 0.0], duration=1.0)
    assert str(refused.value) == (
        "four-bar: qd does not obey the constraints: pin.y miss by 0.05; velocities(q, guess=qd) gives rates that do, "
        "hold='none' lets them be"
    )
