"""Runs by loops over the bodies: the same rates, steps and energies as by one formula for all bodies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.compiler.kernel import Kernel
from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.simulation import loops
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.loops import BoundedCache, recorded_of
from kinpair.simulation.methods import integrators, looped, looped_alpha, steps
from kinpair.simulation.methods.generalised_alpha import GeneralisedAlpha

PROGRAMS = {"rate": (looped.rate, Dynamics.rate), "watched": (looped.watched, Dynamics.watched)}


def chain(n: int, kind: str = "revolute", damping: float = 0.0) -> kp.Mechanism:
    """A chain of equal links that turn about axes across each other, with springs and dampers."""
    builder = kp.Builder("chain")
    parent = "ground"
    for k in range(n):
        builder.link(f"link {k}", mass=0.1, com=(0.0, 0.0, -0.05), inertia=(1e-4, 1e-4, 1e-5))
        axis = {} if kind == "universal" else {"axis": (1.0, 0.0, 0.0) if k % 2 else (0.0, 1.0, 0.0)}
        passive = {"damping": damping, "stiffness": 10 * damping} if damping else {}
        builder.joint(f"joint {k}", kind, parent, f"link {k}", xyz=(0.0, 0.0, -0.1), **axis, **passive)
        parent = f"link {k}"
    return kp.build(builder)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("driven", [False, True], ids=["free", "driven"])
def test_recorded_loops_give_what_the_formula_gives(name, floating, driven):
    model = zoo.tree(4, 6, floating=floating).model
    d = Dynamics(model, driven=driven)
    rng = np.random.default_rng(3)
    s = zoo.motions(Mechanism(model), 9)
    y = np.concatenate([s.q, s.qd, rng.normal(size=(9, d.ny - model.nq - model.nv))], axis=1)
    u = rng.normal(size=(9, d.nu))
    rolled, straight = PROGRAMS[name]
    kernel = Kernel(rolled(d))
    formula = Kernel(recorded_of(d, straight, time=(), y=(d.ny,), u=(d.nu,)))
    expected = formula(np.zeros(9), y, u)
    values = {"y": y, "u": u}
    result = kernel(*(values[x] for x in kernel.signature.inputs))
    assert zoo.relative_error(result, expected) < 1e-10


def test_quaternions_are_settled_in_loops():
    model = zoo.tree(5, 6, floating=True).model
    d = Dynamics(model, driven=False)
    y = np.random.default_rng(2).normal(size=d.ny)
    formula = Kernel(recorded_of(d, Dynamics.settled, time=(), y=(d.ny,)))
    assert zoo.relative_error(Kernel(looped.settled(d))(y), formula(0.0, y)) < 1e-14


def test_a_step_of_semi_implicit_euler_is_the_same_in_loops():
    d = Dynamics(chain(6, "universal", 0.01).model)
    rng = np.random.default_rng(4)
    y, u = rng.normal(size=d.ny), rng.normal(size=d.nu)
    kernel = Kernel(looped.semi_implicit_euler(d))
    values = {"y": y, "u": u, "dt": 1e-3}

    def step(d, time, y, u, dt):
        return steps.semi_implicit_euler(d, time, dt, y, u)

    formula = Kernel(recorded_of(d, step, time=(), y=(d.ny,), u=(d.nu,), dt=()))
    expected = formula(0.0, y, u, 1e-3)
    assert zoo.relative_error(kernel(*(values[x] for x in kernel.signature.inputs)), expected) < 1e-12


@pytest.mark.parametrize(
    "integrator", ["rk4", "dopri5", "dop853", "semi-implicit-euler", "generalised-alpha"]
)
def test_runs_by_loops_are_runs_by_the_formula(integrator, monkeypatch):
    mechanism = chain(5 if integrator[0] == "g" else 14, "universal", 1e-3)
    q = 0.3 * np.random.default_rng(1).normal(size=mechanism.nq)
    options = {"dt": 1e-5 if integrator[0] == "s" else 1e-3} if integrator[0] in "rsg" else {}

    def run(*, by_loops: bool):
        monkeypatch.setattr(loops, "LOOPS", BoundedCache(2))
        monkeypatch.setattr(looped, "is_looped", lambda d: by_loops)
        tau = 1e-3 * np.ones(mechanism.nv)
        return kp.simulate(
            mechanism, q, np.zeros(mechanism.nv), duration=0.02, torque=tau, integrator=integrator, **options
        )

    by_loops, by_formula = run(by_loops=True), run(by_loops=False)
    assert zoo.relative_error(by_loops.qd, by_formula.qd) < 1e-9
    for x, y in zip(by_loops.energy, by_formula.energy, strict=True):
        assert zoo.relative_error(x, y) < 1e-9


def test_long_chains_run_by_loops_and_keep_their_energy():
    mechanism = chain(60, "universal")
    d = Dynamics(mechanism.model, driven=False)
    assert looped.is_looped(d)
    assert not looped.is_looped(Dynamics(chain(5).model, driven=False))
    q = np.zeros(mechanism.nq)
    q[:2] = 1.0
    run = kp.simulate(mechanism, q, np.zeros(mechanism.nv), duration=0.2, integrator="dop853")
    energy = run.energy.kinetic + run.energy.potential
    assert np.abs(energy - energy[0]).max() < 1e-8 * np.ptp(run.energy.potential)
    stepper = kp.stepper(mechanism, dt=1e-3)
    stepper.reset(q, np.zeros(mechanism.nv))
    for _ in range(200):
        position, _ = stepper.step(np.zeros(mechanism.nv))
    assert np.abs(position - run.q[-1]).max() < 1e-4


ALPHA = GeneralisedAlpha(0.8)


@pytest.mark.parametrize("fresh", [0.0, 1.0], ids=["first", "later"])
@pytest.mark.parametrize(
    "model",
    [chain(3, "universal", 0.01).model, zoo.tree(4, 4, floating=True).model],
    ids=["springs", "quaternion"],
)
def test_programs_of_generalised_alpha_by_loops_are_those_of_the_formula(model, fresh):
    d = Dynamics(model, memory=ALPHA.memory(model.nv))
    rng, n = np.random.default_rng(4), model.nv
    y, u, z = (rng.normal(size=size) for size in (d.ny, d.nu, ALPHA.size(d)))
    y[d.layout.q] = zoo.motions(Mechanism(model), 1).q[0]
    y[[d.layout.memory.start + 2 * n, -1]], y[-n - 1 : -1] = (
        (0.0, fresh),
        0.0,
    )  # no power of constraints, no slip
    z[[n, 3 * n + 1]], z[3 * n + 2 :] = 0.0, 0.0
    values = {"time": 0.0, "dt": 1e-2, "y": y, "u": u, "z": z}
    sizes = {"time": (), "dt": (), "y": y.shape, "u": u.shape, "z": z.shape}
    for name, program in looped_alpha.programs_of(d, ALPHA).items():
        read = ("time", "dt", "y", "u", *(() if name == "start" else ("z",)))
        formula = Kernel(recorded_of(d, getattr(ALPHA, name), **{x: sizes[x] for x in read}))
        kernel = Kernel(program)
        result = kernel(*(values[x] for x in kernel.signature.inputs))
        expected = formula(*(values[x] for x in read))
        pairs = zip(result, expected, strict=True) if name == "improve" else [(result, expected)]
        assert max(zoo.relative_error(a, b) for a, b in pairs) < 1e-12


def test_generalised_alpha_of_a_long_chain_is_of_second_order_and_keeps_energy():
    mechanism = chain(60, "universal")
    q = np.zeros(mechanism.nq)
    q[:2] = 0.3
    start = q, np.zeros(mechanism.nv)
    exact = kp.simulate(mechanism, *start, duration=0.1, integrator="dop853").q[-1]

    def run(dt, **options):
        return kp.simulate(mechanism, *start, duration=0.1, integrator="generalised-alpha", dt=dt, **options)

    errors = [np.abs(run(dt).q[-1] - exact).max() for dt in (2e-3, 1e-3, 5e-4)]
    assert all(3.6 < coarse / fine < 4.4 for coarse, fine in pairwise(errors))
    assert run(5e-4, rho_inf=1.0).balance.relative < 1e-6
    stepper = kp.stepper(mechanism, dt=1e-3, integrator="generalised-alpha")
    stepper.reset(*start)
    for _ in range(100):
        position, _ = stepper.step(np.zeros(mechanism.nv))
    assert np.abs(position - run(1e-3).q[-1]).max() < 1e-12


def test_a_long_run_without_loops_is_rejected_with_the_reason(monkeypatch):
    monkeypatch.setattr(integrators, "ROOM", 20_000)
    rope = kp.build(
        kp.Builder("rope").chain("rope", n=130, length=1.0, mass=1.0, joint="universal", friction=1e-4)
    )
    start = np.full(rope.nq, 0.1), np.zeros(rope.nv)
    with pytest.raises(
        InputError, match=r"130 bodies.*this one has none: dry friction holds its joints at rest"
    ):
        kp.simulate(rope, *start, duration=0.01, integrator="rk4")
