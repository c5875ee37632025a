"""Actuators in loops over the bodies: the same efforts, rates and runs as by one formula and by the reference."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.compiler.kernel import Kernel
from kinpair.evaluation.kernels import Kernels
from kinpair.evaluation.quantities.request import request_of
from kinpair.mechanism import Mechanism
from kinpair.simulation import loops
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.loops import BoundedCache, recorded_of
from kinpair.simulation.methods import looped, steps

MOTOR = {"resistance": 1.0, "torque_constant": 0.05, "rotor_inertia": 1e-5}
HOUSING = {"winding_to_housing": 2.0, "housing_to_ambient": 5.0, "winding_capacity": 10.0}
KINDS = {
    "effort": {"effort": 2.0, "velocity": 5.0},
    "affine": {"gain": 2.0, "bias_position": -2.0, "filter_time": 0.05, "effort_lower": -1.0},
    "dc-motor": {**MOTOR, "inductance": 1e-3, "gear": {"ratio": 20.0, "efficiency": 0.8}},
    "servo": {**MOTOR, "position_gain": 10.0, "speed_gain": 1.0, "speed_time": 0.1, "voltage": 24.0},
    "series-elastic": {"effort": 3.0, "rotor_inertia": 1e-4, "gear": {"ratio": 10.0, "stiffness": 50.0}},
    "hydraulic-motor": {
        "displacement": 1e-6,
        "volume": 1e-5,
        "bulk_modulus": 1e9,
        "flow_gain": 1e-4,
        "pressure_flow": 1e-12,
    },
}


def snake(n: int, kinds=tuple(KINDS), floating: bool = False) -> kp.Mechanism:
    """A chain in which two of three joints have actuators, of all kinds in turn; the others are free."""
    builder = kp.Builder("snake").link("head", mass=0.1, inertia=(1e-3, 1e-3, 1e-3))
    builder.joint("base", "free" if floating else "universal", "ground", "head")
    joints = {"joint": "revolute", "axis": (0, 1, 0), "damping": 1e-3}
    builder.chain("s", n=n, length=0.1 * n, mass=0.1 * n, parent="head", **joints)
    for k in range(n):
        if k % 3:
            kind = kinds[k % len(kinds)]
            numbers = {**KINDS[kind], **({"velocity": 4.0 + k} if kind == "effort" else {})}
            builder.actuator(f"motor {k}", f"s_{k + 1}", kind, **numbers)
    return kp.build(builder)


def states(d: Dynamics, batch: int = 5) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(8)
    y, u = rng.normal(size=(batch, d.ny)), rng.normal(size=(batch, d.nu))
    motion = zoo.motions(Mechanism(d.model), batch)
    y[:, d.layout.motion] = np.hstack([motion.q, motion.qd])
    return {"y": y, "u": u, "dt": np.full(batch, 1e-3), "time": np.zeros(batch)}


@pytest.mark.parametrize(
    ("name", "floating"),
    [(name, floating) for name in ("rate", "watched", "settled") for floating in (False, True)]
    + [("semi_implicit_euler", False)],
)
def test_recorded_loops_give_what_the_formula_gives(name, floating):
    d = Dynamics(snake(12, floating=floating).model, actuated=True)
    straight = {
        "rate": lambda d, time, y, u, dt: Dynamics.rate(d, time, y, u),
        "watched": lambda d, time, y, u, dt: Dynamics.watched(d, time, y, u),
        "settled": lambda d, time, y, u, dt: Dynamics.settled(d, time, y),
        "semi_implicit_euler": lambda d, time, y, u, dt: steps.semi_implicit_euler(d, time, dt, y, u),
    }[name]
    values = states(d)
    formula = Kernel(recorded_of(d, straight, time=(), y=(d.ny,), u=(d.nu,), dt=()))
    kernel = Kernel(getattr(looped, name)(d))
    result = kernel(*(values[x] for x in kernel.signature.inputs))
    expected = formula(*(values[x] for x in ("time", "y", "u", "dt")))
    assert zoo.relative_error(result, expected) < 1e-12


def test_actuation_by_loops_is_that_of_the_formula_and_of_the_reference():
    mechanism = snake(12)
    d = Dynamics(mechanism.model, actuated=True)
    values = states(d)
    parts = [values["y"][:, part] for part in (d.layout.q, d.layout.qd, d.layout.x)]
    kernels, request = Kernels(mechanism.model), request_of("actuation")
    state = [*parts, values["u"], np.zeros((5, 1))]
    rolled, straight = (kernels.get(request, rolled=x)(*state) for x in (True, False))
    reference = Mechanism(mechanism.model, compiled=False).actuation(*parts, values["u"])
    for a, b, c in zip(rolled, straight, reference, strict=True):
        assert zoo.relative_error(a, b) < 1e-12
        assert zoo.relative_error(a, c) < 1e-12


def test_the_actuators_of_a_long_chain_are_evaluated_by_loops():
    mechanism = snake(150)
    s = zoo.motions(mechanism, 1)
    assert Kernels(mechanism.model).is_rolled(request_of("actuation"))
    rng = np.random.default_rng(3)
    x, u = rng.normal(size=mechanism.nx), rng.normal(size=mechanism.nu)
    derivative = mechanism.state_derivative(s.q[0], s.qd[0], x, u)
    effort, rate = mechanism.actuation(s.q[0], s.qd[0], x, u)
    assert zoo.relative_error(derivative.x_rate, rate) == 0.0
    efforts = mechanism.inverse_dynamics(s.q[0], s.qd[0], derivative.qdd)
    assert zoo.relative_error(efforts, effort) < 1e-9


@pytest.mark.parametrize("integrator", ["rk4", "semi-implicit-euler"])
def test_runs_by_loops_are_runs_by_the_formula(integrator, monkeypatch):
    mechanism = snake(6, kinds=("effort", "affine", "dc-motor", "servo", "series-elastic"))

    def run(*, by_loops: bool):
        monkeypatch.setattr(loops, "LOOPS", BoundedCache(2))
        monkeypatch.setattr(looped, "is_looped", lambda d: by_loops)
        start = np.full(mechanism.nq, 0.1), np.zeros(mechanism.nv)
        u = 0.3 * np.ones(mechanism.nu)
        return kp.simulate(mechanism, *start, duration=0.02, input=u, integrator=integrator, dt=1e-4)

    by_loops, by_formula = run(by_loops=True), run(by_loops=False)
    assert by_loops.x.shape[1] > 0
    for name in ("qd", "x", "u", "tau"):
        assert zoo.relative_error(getattr(by_loops, name), getattr(by_formula, name)) < 1e-9
    for x, y in zip(by_loops.energy, by_formula.energy, strict=True):
        assert zoo.relative_error(x, y) < 1e-9


def test_a_long_chain_with_motors_runs_by_loops_and_its_powers_add_up():
    mechanism = snake(60, kinds=("dc-motor", "series-elastic"))
    assert looped.is_looped(Dynamics(mechanism.model, actuated=True))
    u = 0.2 * np.sin(np.arange(mechanism.nu))
    start = np.zeros(mechanism.nq), np.zeros(mechanism.nv)
    run = kp.simulate(mechanism, *start, duration=0.02, input=u, integrator="rk4", dt=1e-4)
    assert run.work[-1] > run.loss[-1] > 0.0
    assert run.balance.relative < 1e-8
    stepper = kp.stepper(mechanism, dt=1e-4)
    stepper.reset(*start)
    for _ in range(200):
        _, rates = stepper.step(u)
    assert zoo.relative_error(rates, run.qd[-1]) < 1e-6
