"""Limits that land and open within compiled steps: the events and motions of the driver, which stops at each event."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.simulation.driver import driver as driving
from kinpair.simulation.modes.guards import Guards


def sliders(n: int = 5) -> kp.Mechanism:
    """Sliders side by side, each on a floor."""
    b = kp.Builder("sliders")
    for k in range(n):
        b = b.link(f"s{k}", mass=1.0 + 0.1 * k)
        b = b.joint(f"z{k}", "prismatic", "ground", f"s{k}", axis="z", lower=0.0, start=0.05 + 0.02 * k)
    return kp.build(b)


def chain(n: int = 3) -> kp.Mechanism:
    """An arm in a plane whose joints have narrow limits, so that each impact changes all rates."""
    b, last = kp.Builder("chain", gravity=(0.0, 0.0, -9.81)), "ground"
    for k in range(n):
        b = b.link(f"l{k}", mass=1.0, com=[0.3, 0.0, 0.0], inertia=[0.01, 0.02, 0.02])
        keys = {"xyz": [0.5, 0.0, 0.0]} if k else {}
        b = b.joint(f"j{k}", "revolute", last, f"l{k}", axis="y", lower=-0.4, upper=0.4, **keys)
        last = f"l{k}"
    return kp.build(b)


def lifted(t, q, qd):
    return np.array([(30.0 + k) * np.sin(6.0 * t - 2.0) for k in range(len(q))])


def shaken(t, q, qd):
    return np.array([(12.0 - 3.0 * k) * np.sin((3.0 + k) * t) for k in range(len(q))]) - 0.2 * qd


def happened(run):
    return [(x.name, x.time) for x in run.events]


def both(monkeypatch, *arguments, **options):
    """The run whose limits are passed in compiled code, and the one that stops at each event."""
    passed = list[int]()
    pass_by = driving.Actions.passed
    monkeypatch.setattr(
        driving.Actions, "passed", lambda own, roots: passed.append(len(roots)) or pass_by(own, roots)
    )
    compiled = kp.simulate(*arguments, **options)
    assert sum(passed) > 0
    monkeypatch.setattr(Guards, "changes", lambda own, d: False)
    return compiled, kp.simulate(*arguments, **options)


CASES = {
    "floors": (sliders, lifted, "stop", 1.2),
    "arm": (chain, shaken, "stop", 2.0),
    "arm that rebounds": (chain, shaken, kp.Limits("bounce", restitution=0.4, rest=0.3), 1.0),
    "arm by Poisson": (chain, shaken, kp.Limits("bounce", restitution=0.4, rest=0.3, impact="poisson"), 1.0),
}


@pytest.mark.parametrize("case", CASES)
def test_events_and_motions_are_those_of_the_driver(case, monkeypatch):
    make, torque, limits, duration = CASES[case]
    m = make()
    options = {"duration": duration, "torque": torque, "limits": limits, "rtol": 1e-10, "atol": 1e-12}
    compiled, driven = both(monkeypatch, m, m.start(), np.zeros(m.nv), **options)
    assert [name for name, _ in happened(compiled)] == [name for name, _ in happened(driven)]
    times = np.array([[a[1], b[1]] for a, b in zip(happened(compiled), happened(driven), strict=True)])
    assert len(times) > 4
    assert np.abs(times[:, 0] - times[:, 1]).max() < 1e-8
    assert np.abs(compiled.q - driven.q).max() < 1e-8
    assert (compiled.history.number == driven.history.number).all()  # of the modes at samples
    for a, b in zip(compiled.events, driven.events, strict=True):
        assert a.lost == pytest.approx(b.lost, abs=1e-8)
        assert np.abs(a.qd - b.qd).max() < 1e-7
        assert np.abs(a.qd_before - b.qd_before).max() < 1e-7


@pytest.mark.parametrize("case", CASES)
def test_energy_balance_of_impacts_in_compiled_code(case):
    make, torque, limits, duration = CASES[case]
    m = make()
    run = kp.simulate(
        m, m.start(), np.zeros(m.nv), duration=duration, torque=torque, limits=limits, rtol=1e-10
    )
    total = run.energy.kinetic + run.energy.potential - run.work + run.loss
    assert np.abs(total - total[0]).max() < 1e-6
    assert all(x.lost >= 0.0 for x in run.events)


def test_a_run_that_is_cut_between_limits_goes_on_to_the_bit(tmp_path):
    def interrupt(part: float) -> None:
        if part > 0.3:
            raise KeyboardInterrupt

    m = sliders()
    options = {"duration": 1.2, "torque": lifted, "limits": "stop", "max_step": 1.95e-3, "output": 1e-3}
    whole = kp.simulate(m, m.start(), np.zeros(m.nv), **options)
    path = tmp_path / "run.h5"
    cut = kp.simulate(m, m.start(), np.zeros(m.nv), save=path, progress=interrupt, **options)
    assert cut.status.name == "interrupted"
    assert 5 < len(cut.events) < len(whole.events)  # some limits have opened, others are closed
    again = kp.resume(path, torque=lifted)
    assert np.array_equal(again.q, whole.q)
    assert np.array_equal(again.history.number, whole.history.number)
    assert happened(again) == happened(whole)
