"""Loops eliminated along the tree: the accelerations, projections and runs of the solvers that form A and M."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.long_loops import arc, fixed_chain, four_bars, net

import kinpair as kp
import zoo
from kinpair.constraints.assembly import long
from kinpair.constraints.quantities import along_tree
from kinpair.errors import InputError, SingularError
from kinpair.evaluation.kernels import Kernels
from kinpair.evaluation.quantities.request import request_of
from kinpair.mechanism import Mechanism

sys.path.insert(0, str(Path(__file__).parents[2] / "docs/pictures"))
from long_chains import catenary


def ladder() -> kp.Builder:
    """Rods between two hanging chains, and a free base that carries them."""
    builder = kp.Builder("ladder")
    builder.link("bar", mass=2.0, inertia=(0.1, 0.1, 0.1)).joint("base", "free", "ground", "bar")
    for side, x in (("left", -0.2), ("right", 0.2)):
        parent = "bar"
        for k in range(3):
            builder.link(f"{side} {k}", mass=0.2, com=(0.0, 0.0, -0.1), inertia=(1e-3, 1e-3, 1e-4))
            place = (x, 0.0, 0.0) if k == 0 else (0.0, 0.0, -0.2)
            builder.joint(f"{side} joint {k}", "spherical", parent, f"{side} {k}", xyz=place, damping=0.01)
            parent = f"{side} {k}"
    for k in range(3):
        builder.distance(
            f"rung {k}",
            f"left {k}",
            f"right {k}",
            length=0.4,
            xyz=(0.0, 0.0, -0.2),
            child_xyz=(0.0, 0.0, -0.2),
        )
    return builder


MAKERS = {
    "four-bars in a row": lambda: four_bars(3),
    "four-bars on each other": lambda: four_bars(3, stacked=True),
    "chain with both ends fixed": lambda: fixed_chain(8),
    "net": lambda: net(4, 2),
    "ladder": ladder,
}


def request(quantity):
    return replace(request_of("forward_dynamics"), quantity=quantity)


def moving(name):
    """A mechanism with a state that keeps its loops closed."""
    mechanism = kp.build(MAKERS[name]())
    rng = np.random.default_rng(5)
    guess = arc(8) if name.startswith("chain") else np.asarray(mechanism.model.neutral())
    step = np.asarray(0.1 * rng.normal(size=mechanism.nv))
    q = mechanism.assemble(mechanism.assemble(guess) + mechanism.dq_dt(guess, step))
    return (
        mechanism,
        q,
        mechanism.velocities(q, guess=rng.normal(size=mechanism.nv)),
        rng.normal(size=mechanism.nv),
    )


@pytest.mark.parametrize("name", MAKERS)
def test_accelerations_are_those_of_multipliers(name):
    mechanism, q, qd, tau = moving(name)
    kernel = Kernels(mechanism.model).get(request("loop_accelerations"), rolled=True)
    qdd, measures = kernel(q, qd, tau)
    expected = mechanism.forward_dynamics(q, qd, tau, solver="multipliers")
    assert zoo.relative_error(qdd, expected) < 1e-9
    by_floats = Mechanism(mechanism.model, compiled=False)._calls(request("loop_accelerations"), (q, qd, tau))
    assert zoo.relative_error(qdd, by_floats[0]) < 1e-9
    assert (
        zoo.relative_error(kernel(np.stack([q] * 5), np.stack([qd] * 5), np.stack([tau] * 5))[0][3], qdd)
        < 1e-12
    )
    assert measures[2] > 1e-6
    assert measures[3] < 1e-8


@pytest.mark.parametrize("name", MAKERS)
def test_projection_is_the_least_displacement(name):
    mechanism, q, qd, tau = moving(name)
    kernels = Kernels(mechanism.model)
    off = q + mechanism.dq_dt(q, 1e-3 * tau)
    there, rates, _ = kernels.get(request("loop_projection"), rolled=True)(off, qd)
    kept = mechanism.closure.requests.choose("accelerations", q, 0.0, "multipliers", {})
    expected = mechanism.closure.calls(replace(kept, quantity="projection"), (off, qd, np.zeros(1)))
    assert zoo.relative_error(there, expected[0]) < 1e-9
    assert zoo.relative_error(rates, expected[1]) < 1e-7
    phi, psi = kernels.get(request("loop_residuals"), rolled=True)(there, rates)
    assert phi == pytest.approx(np.abs(mechanism.closure.positions(there)).max(), rel=1e-6, abs=1e-14)
    assert psi < 1e-10


@pytest.mark.parametrize("name", ["four-bars on each other", "chain with both ends fixed", "ladder"])
@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_runs_are_those_of_multipliers(name, integrator, monkeypatch):
    _, q, qd, _ = moving(name)
    options = {"duration": 0.05, "integrator": integrator} | ({"dt": 1e-3} if integrator == "rk4" else {})
    usual = kp.simulate(kp.build(MAKERS[name]()), q, qd, **options)
    monkeypatch.setattr(long, "LONG", 0)
    mechanism = kp.build(MAKERS[name]())
    assert mechanism.closure.long.used
    run = kp.simulate(mechanism, q, qd, **options)
    assert zoo.relative_error(run.q[-1], usual.q[-1]) < 1e-7
    assert zoo.relative_error(run.qd[-1], usual.qd[-1]) < 1e-6
    assert zoo.relative_error(run.energy.kinetic, usual.energy.kinetic) < 1e-6


def test_a_chain_in_the_shape_of_the_catenary_stays_at_rest():
    n = 150  # rounding grows as n⁴: below 1e-9 of the scale by a factor of four
    alpha, _ = catenary(n)
    mechanism = kp.build(fixed_chain(n, joint="revolute"))
    theta = np.diff(np.pi / 2 - alpha, prepend=0.0)
    q = mechanism.assemble(-theta)
    still = np.zeros(n)
    assert np.abs(q + theta).max() < 1e-9
    scale = np.abs(
        kp.build(fixed_chain(n, joint="revolute"), constraints=False).forward_dynamics(q, still, still)
    ).max()
    assert np.abs(mechanism.forward_dynamics(q, still, still)).max() < 1e-9 * scale


@pytest.mark.parametrize("stacked", [False, True])
def test_work_and_code_grow_as_the_loops(stacked):
    counts, texts = [], []
    for n in (20, 40):
        kernel = Kernels(kp.build(four_bars(n, stacked=stacked)).model).get(
            request("loop_accelerations"), rolled=True
        )
        counts.append(kernel.count["total"])
        texts.append(len(kernel.llvm))
    assert counts[1] < 2.05 * counts[0]
    assert texts[1] < 1.05 * texts[0]


def test_a_long_row_is_assembled_and_moves():
    mechanism = kp.build(four_bars(60))
    q = mechanism.assemble(0.1 * np.sin(np.arange(mechanism.nq)))
    qd = mechanism.velocities(q, guess=np.ones(mechanism.nv))
    assert mechanism.closure.long.fill == (60, 2)
    run = kp.simulate(mechanism, q, qd, duration=0.02, integrator="rk4", dt=1e-3)
    energy = run.energy.kinetic + run.energy.potential
    assert np.ptp(energy) < 1e-7 * np.ptp(run.energy.kinetic)
    single = kp.build(four_bars(1))
    alone = kp.simulate(single, q[:3], qd[:3], duration=0.02, integrator="rk4", dt=1e-3)
    assert zoo.relative_error(run.q[-1][:3], alone.q[-1]) < 1e-9


def test_rows_that_are_open_at_one_body_have_columns_of_their_own():
    plan = along_tree.plan_of(kp.build(net(4, 2)).model)
    open_at: dict[int, set[tuple[int, int]]] = {}
    for number, role in enumerate(plan.roles):
        if not isinstance(role, along_tree.End):
            continue
        node = number
        while not (
            isinstance(plan.roles[node], along_tree.Closing)
            and plan.roles[node].start == role.start
            and _carries(plan, node, plan.others[number])
        ):
            open_at.setdefault(node, set()).add((role.start, min(number, plan.others[number])))
            node = plan.model.parent[node]
    for loops in open_at.values():
        assert len({start for start, _ in loops}) == len(loops)


def _carries(plan, body, other):
    while other:
        if other == body:
            return True
        other = plan.model.parent[other]
    return False


def test_open_loops_and_rows_that_depend_on_each_other_are_refused():
    mechanism = kp.build(four_bars(60))
    still = np.zeros(mechanism.nv)
    with pytest.raises(
        SingularError, match=r"60 four-bars: its loops are open by up to 0\.\d+; assemble\(q\) closes them"
    ):
        mechanism.forward_dynamics(np.full(mechanism.nq, 0.1), still, still)
    with pytest.raises(InputError, match=r"60 four-bars: q leaves loops open by up to"):
        kp.simulate(mechanism, np.full(mechanism.nq, 0.1), still, duration=0.01)
    with pytest.raises(InputError, match=r"60 four-bars: 180 bodies with loops are simulated by rk4, dopri5"):
        kp.simulate(
            mechanism, np.zeros(mechanism.nq), still, duration=0.01, integrator="generalised-alpha", dt=1e-3
        )
    builder = fixed_chain(130, joint="revolute")
    builder.loop("again", "pin", "ground", "link_end", xyz=(0.6, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    twice = kp.build(builder)
    q = kp.build(fixed_chain(130, joint="revolute")).assemble(arc(130, parts=1))
    with pytest.raises(SingularError, match=r"rows of its loops depend on each other"):
        twice.forward_dynamics(q, np.zeros(130), np.zeros(130))
