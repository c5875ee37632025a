"""Every public method of a mechanism as a user calls it: one state and a batch, beside Pinocchio and MuJoCo where they
have it, and how far the code behind it is from the limit of the machine.

`python -m benchmarks.every_method` measures nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks import machine, targets
from benchmarks.robots import random_states, robot
from benchmarks.timing import race, repeated

BATCH, TIMES = 1024, 100
ARM, HUMANOID, LINKAGE, PLATFORM = "Panda", "G1", "four-bar", "stewart"
STATE = ("q", "qd", "x")


@dataclass(frozen=True, slots=True)
class Method:
    """How a method is called: which parts of a state it takes (x: accelerations or efforts), and its options.

    `kernel` is what is behind it, where operations are counted.
    """

    takes: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    kernel: str = ""
    batch: bool = True
    near: tuple[str, ...] = ()  # options that take a guess, a little away from the part of the state named


DYNAMICS: dict[str, Method] = {
    "inverse_dynamics": Method(STATE, kernel="inverse_dynamics"),
    "forward_dynamics": Method(STATE, kernel="forward_dynamics"),
    "inverse_dynamics_derivatives": Method(STATE, kernel="inverse_dynamics_derivatives"),
    "forward_dynamics_derivatives": Method(STATE),
}
TREE: dict[str, Method] = {  # of an arm, and some of a humanoid
    **DYNAMICS,
    "mass_matrix": Method(("q",), kernel="mass_matrix"),
    "coriolis_matrix": Method(("q", "qd"), kernel="coriolis_matrix"),
    "bias_forces": Method(("q", "qd"), kernel="bias_forces"),
    "gravity_forces": Method(("q",), kernel="gravity_forces"),
    "energy": Method(("q", "qd"), kernel="energy"),
    "reactions": Method(STATE),
    "bearing_loads": Method(STATE),
    "motor_loads": Method(STATE),
    "resultant": Method(STATE, kernel="resultant"),
    "regressor": Method(STATE, kernel="regressor"),
    "pose": Method(("q",), {"frame": "{frame}"}, kernel="pose"),
    "poses": Method(("q",), kernel="poses"),
    "jacobian": Method(("q",), {"frame": "{frame}"}, kernel="jacobian"),
    "jacobian_rate": Method(("q", "qd"), {"frame": "{frame}"}, kernel="jacobian_rate"),
    "twists": Method(("q", "qd"), kernel="twists"),
    "twist_rates": Method(STATE, kernel="twist_rates"),
    "centre_of_mass": Method(("q",), kernel="centre_of_mass"),
    "momentum": Method(("q", "qd"), kernel="momentum"),
    "dq_dt": Method(("q", "qd"), kernel="dq_dt"),
    "actuation": Method(("q", "qd")),
    "state_derivative": Method(("q", "qd")),
    "friction": Method(STATE, batch=False),
    "by_name": Method((), {"q": {}, "qd": {}}, batch=False),
    "checked": Method(("q",), {"name": "q"}),
    "neutral": Method((), batch=False),
    "start": Method((), batch=False),
    "regressor_parameters": Method((), batch=False),
}
CLOSED: dict[str, Method] = {
    **DYNAMICS,
    "reactions": Method(STATE),
    "constraint_residual": Method(("q",)),
    "constraint_matrix": Method(("q",)),
    "constraint_forces": Method(STATE),
    "reduced_equations": Method(STATE),
    "assemble": Method((), near=("q",)),
    "velocities": Method(("q",), near=("guess:qd",)),
    "accelerations": Method(("q", "qd"), near=("guess:x",)),
    "mobility": Method(("q",), batch=False),
}
SPECIAL: dict[str, str] = {  # methods with a measurement of their own
    "inverse_kinematics": "benchmarks/planning.py",
    "inverse_kinematics_solutions": "benchmarks/planning.py",
    "compile": "benchmarks/compile_time.py",
    "kernel": "benchmarks/compile_time.py",
}
NOT_TIMED: dict[str, str] = {
    "mass_operator": "its products are timed with long mechanisms",
    "contacts": "timed with the steps of runs with contact",
    "contact_rows": "timed with the steps of runs with contact",
    "compliant_forces": "one contact element of a state, for a person who looks into it",
    "sparse_mass_matrix": "timed with long mechanisms",
    "derivative_operator": "its products are timed with long mechanisms",
    "with_contact": "builds a mechanism, once before a run",
    "actuated": "names from the description, read once before a call",
    "start_warning": "a sentence about the start of a run, once",
    "answer_to": "asked once by each kind of call, on its way to machine code",
    "friction_solutions": "a search over all combinations of directions, for a person who looks into one state",
    "picture": "draws; its time is that of matplotlib",
    "view": "opens a page and waits for a person",
    "tables_html": "text for a notebook, once a mechanism",
    "split": "makes another mechanism, once",
    "with_actuators": "makes another mechanism, once",
    "with_constraints": "makes another mechanism, once",
    "with_payload": "makes another mechanism, once",
    "without_constraints": "makes another mechanism, once",
}
OF_HUMANOID = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "poses",
    "jacobian",
    "energy",
    "centre_of_mass",
)


@dataclass(frozen=True, slots=True)
class Timed:
    """Nanoseconds of a call for one state, and of a state in a batch; peers' by name, (one, a state of a loop)."""

    method: str
    robot: str
    one: float
    batch: float | None
    peers: dict[str, float]
    operations: int | None = None
    limit: float | None = None
    """Nanoseconds that the operations take at the rate at which the machine can issue them."""
    targets: dict[str, float] = field(default_factory=dict)

    def verdicts(self) -> Iterator[tuple[str, float, float, bool]]:
        """What was demanded: its name, what was found, the demand, and whether it is met."""
        for what, demanded in self.targets.items():
            if what in self.peers:
                found = self.peers[what] / self.one
                yield f"≥ {demanded:g} × {what}", found, demanded, found >= demanded
            else:
                found = (self.one if what.startswith("one") else self.batch) or 0.0
                yield f"{what} ≤ {demanded:g}", found, demanded, found <= demanded

    @property
    def over_limit(self) -> float | None:
        """How many times longer a state in a batch takes than its operations must."""
        return self.batch / self.limit if self.batch and self.limit else None


def arguments(method: Method, frame: str, s: dict[str, np.ndarray]) -> tuple[list[Any], dict[str, Any]]:
    """Of one state or of a batch."""
    options = {name: frame if x == "{frame}" else x for name, x in method.options.items()}
    given: list[Any] = [s[part] for part in method.takes]
    for part in method.near:
        name, _, of = part.rpartition(":")
        guess = s[of] + 1e-3
        if name:
            options[name] = guess
        else:
            given.append(guess)
    if "name" in options:
        given.insert(0, options.pop("name"))
    if "frame" in options:
        given.append(options.pop("frame"))
    return given, options


def prepared(m: kp.Mechanism, name: str, method: Method, s: dict[str, np.ndarray]) -> partial[Any]:
    """The call, made often enough before that it takes the shortest way there is."""
    given, options = arguments(method, m.frames[-1], s)
    for _ in range(WARM):
        getattr(m, name)(*given, **options)
    return partial(getattr(m, name), *given, **options)


WARM = 3


def often(call: partial[Any]) -> Callable[[], None]:
    """The call many times, as directly as the peers'."""
    return repeated(call if call.keywords else call.func, *(() if call.keywords else call.args), times=TIMES)


def rows(turns: int) -> Iterator[Timed]:
    """Methods of trees, then those of closed mechanisms."""
    rate = machine.peak_rate()
    for label, methods in ((ARM, TREE), (HUMANOID, {x: TREE[x] for x in OF_HUMANOID})):
        m = robot(label).load()
        s = random_states(m, BATCH)
        states = {"q": s.q, "qd": s.qd, "x": s.x}
        rivals = _pinocchio(label, m, states)
        yield from _measured(label, m, methods, states, rivals, turns, rate)
    for label in (LINKAGE, PLATFORM):
        m = kp.example(label)
        yield from _measured(label, m, CLOSED, closed_states(m), {}, turns, rate)


def closed_states(m: kp.Mechanism) -> dict[str, np.ndarray]:
    """Positions, rates and accelerations near to the start that obey the constraints."""
    draws = np.random.default_rng(0)
    q = m.assemble(m.start() + 0.02 * draws.standard_normal((BATCH, m.nq)))
    qd = m.velocities(q, guess=draws.standard_normal((BATCH, m.nv)))
    return {"q": q, "qd": qd, "x": m.accelerations(q, qd, guess=draws.standard_normal((BATCH, m.nv)))}


def _measured(
    label: str,
    m: kp.Mechanism,
    methods: dict[str, Method],
    states: dict[str, np.ndarray],
    rivals: dict[str, Callable[[], None]],
    turns: int,
    rate: float,
) -> Iterator[Timed]:
    single = {name: x[0].copy() for name, x in states.items()}
    for name, method in methods.items():
        calls: dict[str, Callable[[], Any]] = {"one": often(prepared(m, name, method, single))}
        if method.batch:
            calls["batch"] = prepared(m, name, method, states)
        if name in rivals:
            calls["Pinocchio"] = rivals[name]
        best = race(calls, turns)
        count = _operations(m, method)
        demanded = targets.METHODS.get((name, label), {})
        yield Timed(
            name,
            label,
            best["one"] / TIMES * 1e9,
            best["batch"] / BATCH * 1e9 if method.batch else None,
            {"Pinocchio": best["Pinocchio"] / TIMES * 1e9} if name in rivals else {},
            count,
            count / rate * 1e9 if count else None,
            demanded,
        )


def _operations(m: kp.Mechanism, method: Method) -> int | None:
    if not method.kernel or m.closure is not None:
        return None
    return m.kernel(method.kernel, frame=m.frames[-1] if "frame" in method.options else "").count["total"]


def _pinocchio(label: str, m: kp.Mechanism, s: dict[str, np.ndarray]) -> dict[str, Callable[[], None]]:
    """The same of one state by Pinocchio's Python functions, until the numbers are in arrays of the caller."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(robot(label).path))
    data, (q, qd, x) = model.createData(), (s[part][0].copy() for part in STATE)
    frame, links = model.getFrameId(m.frames[-1]), [model.getFrameId(name) for name in m.poses(m.neutral())]
    calls: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "inverse_dynamics": (pin.rnea, (q, qd, x)),
        "forward_dynamics": (pin.aba, (q, qd, x)),
        "mass_matrix": (pin.crba, (q,)),
        "coriolis_matrix": (pin.computeCoriolisMatrix, (q, qd)),
        "bias_forces": (pin.nonLinearEffects, (q, qd)),
        "gravity_forces": (pin.computeGeneralizedGravity, (q,)),
        "inverse_dynamics_derivatives": (_copied(pin.computeRNEADerivatives, 2), (q, qd, x)),
        "forward_dynamics_derivatives": (_copied(pin.computeABADerivatives, 3), (q, qd, x)),
        "regressor": (pin.computeJointTorqueRegressor, (q, qd, x)),
        "poses": (_placements(pin), (q, links)),
        "pose": (_placement(pin), (q, frame)),
        "jacobian": (pin.computeFrameJacobian, (q, frame, pin.LOCAL_WORLD_ALIGNED)),
        "energy": (_energy(pin), (q, qd)),
        "centre_of_mass": (pin.centerOfMass, (q,)),
    }
    return {name: repeated(f, model, data, *given, times=TIMES) for name, (f, given) in calls.items()}


def _copied(derivatives: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Pinocchio hands out views of matrices that its next call writes again; so many of them are what kinpair gives."""

    def copies(*given: Any) -> Any:
        return [D.copy() for D in derivatives(*given)[:count]]

    return copies


def _placement(pin: Any) -> Callable[..., Any]:
    """`forwardKinematics` leaves the poses of joints in its data; here is that of a frame, as the cheapest array."""

    def pose(model: Any, data: Any, q: np.ndarray, frame: int) -> Any:
        pin.forwardKinematics(model, data, q)
        return pin.updateFramePlacement(model, data, frame).homogeneous

    return pose


def _placements(pin: Any) -> Callable[..., Any]:
    """Of all links; faster than `framesForwardKinematics` and reading `data.oMf`."""

    def poses(model: Any, data: Any, q: np.ndarray, frames: list[int]) -> Any:
        pin.forwardKinematics(model, data, q)
        place = pin.updateFramePlacement
        return [place(model, data, frame).homogeneous for frame in frames]

    return poses


def _energy(pin: Any) -> Callable[..., Any]:
    """Kinetic and potential: two calls in Pinocchio."""

    def both(model: Any, data: Any, q: np.ndarray, qd: np.ndarray) -> Any:
        return pin.computeKineticEnergy(model, data, q, qd), pin.computePotentialEnergy(model, data, q)

    return both


def main() -> None:
    """Measured on its own."""
    from rich.console import Console

    from benchmarks import busy, report

    console = Console()
    before = busy.look()
    found = list(rows(turns=6))
    console.print(report.every_method(found))
    console.print(str(busy.Watch(before, busy.look())))


if __name__ == "__main__":
    main()
