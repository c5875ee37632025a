"""Machine code of one mechanism: compile, differentiate, export, and a function of your own."""

import tempfile
from pathlib import Path

import numpy as np

import kinpair as kp

arm = kp.example("kr5").compile("inverse_dynamics")
q, qd, qdd = np.random.default_rng(0).normal(size=(3, 6))
print("torques:", arm.inverse_dynamics(q, qd, qdd).round(3))
print(
    "without the compiler they differ by",
    np.abs(arm.inverse_dynamics(q, qd, qdd) - arm.reference.inverse_dynamics(q, qd, qdd)).max(),
)

slopes = arm.inverse_dynamics_derivatives(q, qd, qdd)
step = 1e-6 * np.eye(6)
by_hand = (arm.inverse_dynamics(q + step, qd, qdd) - arm.inverse_dynamics(q - step, qd, qdd)).T / 2e-6
print("derivatives against differences:", f"{np.abs(slopes.q - by_hand).max():.0e}")

Y = arm.regressor(q, qd, qdd)
print(
    "torques are linear in",
    len(arm.regressor_parameters()),
    "parameters:",
    np.allclose(Y @ arm.regressor_parameters(), arm.inverse_dynamics(q, qd, qdd)),
)

pendulum = kp.example("double-pendulum")
kernel = pendulum.kernel("gravity_forces", parameters=("upper.mass", "lower.mass"))
print(kernel.latex())

with tempfile.TemporaryDirectory() as folder:
    source = arm.kernel("inverse_dynamics").c(Path(folder) / "kr5.c")
    print(source.name, "has", len(source.read_text().splitlines()), "lines of C99")


def spring(x, k):
    return k * x / np.sqrt(1 + x @ x)


own = kp.compile(spring, np.zeros(3), 1.0)
print("a function of your own:", own(np.array([1.0, 2.0, 3.0]), 5.0).round(4))
