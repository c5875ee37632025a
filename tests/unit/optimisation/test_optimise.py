"""Optimal motions: published optima, laws, and messages."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

approx = pytest.approx


def double_integrator(x, u):
    return np.array([x[1], u[0]])


BLOCK = kp.dynamics(double_integrator, ("position", "rate"), ("force",))


def cart_pole(s, u):
    _, angle, v, omega = s
    m, l, g = 0.3, 0.5, 9.81
    sn, cs = np.sin(angle), np.cos(angle)
    den = 1.0 + m * sn**2
    a = (l * m * sn * omega**2 + u[0] + m * g * cs * sn) / den
    alpha = -(l * m * cs * sn * omega**2 + u[0] * cs + (1.0 + m) * g * sn) / (l * den)
    return np.array([v, omega, a, alpha])


CART_POLE = kp.dynamics(cart_pole, ("x", "angle", "v", "omega"), ("force",))
SWING_UP = {"start": [0, 0, 0, 0], "end": [1, np.pi, 0, 0], "duration": 2.0, "limits": {"force": 20, "x": 2}}


def robot_arm(s, u):
    """More, Garbow & Hillstrom, COPS: a robot arm of length 5."""
    rho, _, phi, *rates = s
    inertia = ((5.0 - rho) ** 3 + rho**3) / 3
    return np.array([*rates, u[0] / 5.0, u[1] / (inertia * np.sin(phi) ** 2), u[2] / inertia])


ROBOT_ARM = kp.dynamics(
    robot_arm, ("rho", "theta", "phi", "rho_rate", "theta_rate", "phi_rate"), ("a", "b", "c")
)


def test_error_of_the_trapezoidal_rule_is_of_second_order():
    goal = {"start": [0, 0], "end": [1, 0], "duration": 1.0, "method": "trapezoidal", "accuracy": None}
    coarse, fine = (kp.optimise(BLOCK, **goal, intervals=n).cost - 12.0 for n in (20, 40))
    assert coarse / fine == approx(4.0, rel=0.05)


@pytest.mark.parametrize("method", ["hermite-simpson", "radau-3", "radau-5"])
def test_least_effort_of_a_block_is_the_cubic(method):
    """∫u² over 1 s from rest to rest, 1 m away: u = 6 − 12 t, cost 12."""
    x = kp.optimise(BLOCK, start=[0, 0], end=[1, 0], duration=1.0, method=method, intervals=20, accuracy=None)
    order = {"radau-3": 1e-6}.get(method, 1e-9)
    assert x.cost == approx(12.0, abs=order)
    assert x.input_at(x.time)[:, 0] == approx(6.0 - 12.0 * x.time, abs=10 * order)
    assert x.at(0.5).q == approx([0.5, 1.5], abs=order)


def test_least_time_of_a_block_switches_once():
    """|u| ≤ 1 over 1 m: 2 s, full force forward, then back."""
    x = kp.optimise(BLOCK, start=[0, 0], end=[1, 0], cost="time", limits={"force": 1.0})
    assert x.duration == approx(2.0, abs=1e-6)
    assert {(y.name, y.side) for y in x.active} == {("force", "lower"), ("force", "upper")}


def test_swing_up_of_a_cart_pole_has_the_published_cost():
    """Kelly 2017, An introduction to trajectory optimization, with the data of its section 6: 58.8077 N² s here."""
    x = kp.optimise(CART_POLE, **SWING_UP)
    assert x.cost == approx(58.8077, abs=1e-3)
    assert x.error <= 1e-4
    assert x.solved


def test_both_solvers_find_the_same_motion():
    ours, theirs = (
        kp.optimise(CART_POLE, **SWING_UP, accuracy=None, solver=name) for name in ("ipopt", "casadi")
    )
    assert ours.cost == approx(theirs.cost, rel=1e-9)
    assert ours.states == approx(theirs.states, abs=1e-6)


def test_robot_arm_takes_the_published_time():
    """COPS 3.0 (Dolan, Moré, Munson 2004), robot arm: 9.14093 s with 400 intervals."""
    quarter = np.pi / 4
    x = kp.optimise(
        ROBOT_ARM,
        start=[4.5, 0, quarter, 0, 0, 0],
        end=[4.5, 2 * np.pi / 3, quarter, 0, 0, 0],
        cost="time",
        limits={"u": 1.0},
        intervals=60,
    )
    assert x.duration == approx(9.1409, abs=5e-4)
    assert x.error <= 1e-4


# messages


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"limits": {"force": (3.0, -3.0)}}, "the limits of 'force' contradict each other"),
        ({"limits": {"froce": 3.0}}, "did you mean 'force'"),
        ({"limits": {"position": 0.5}}, "end has position = 1, outside its limits -0.5 to 0.5"),
        ({"end": [1, 0, 0]}, "end has shape"),
        ({"duration": -1.0}, "duration is -1.0"),
        ({"cost": "efort"}, "cost 'efort' is not known"),
        ({"cost": lambda point: "much"}, "it must return numbers"),
        ({"cost": lambda point: point.x}, "it must return one number"),
        ({"method": "radau"}, "method 'radau' is not known"),
        ({"intervals": 0}, "intervals is 0"),
        ({"solver": "snopt"}, "solver 'snopt'"),
        ({"path": {"wall": 3.0}}, "path 'wall' is 3.0"),
        (
            {"boundary": {"ends": (2.0, lambda a, b: 0.0, 1.0)}},
            "the bounds of boundary 'ends' contradict each other",
        ),
        ({"guess": 3}, "guess is int"),
        ({"actuators": ["force"]}, "actuators= is for mechanisms"),
        ({"parameters": {"mass": (2, 1)}}, "the bounds of parameter 'mass' contradict each other"),
    ],
)
def test_wrong_input_is_named(change, words):
    goal = {"start": [0, 0], "end": [1, 0], "duration": 1.0} | change
    with pytest.raises(kp.InputError, match=words):
        kp.optimise(BLOCK, **goal)


def test_an_unreachable_goal_names_the_constraint_and_keeps_the_iterate():
    with pytest.raises(kp.RunError, match=r"no solution .*'motion of (rate|position) at") as problem:
        kp.optimise(BLOCK, start=[0, 0], end=[1, 0], duration=1.0, limits={"force": 1.0})
    assert problem.value.run.states.shape[1] == 2


def test_a_cost_that_is_not_a_number_on_the_way_is_reported():
    with pytest.raises(kp.RunError, match="not a finite number"):
        kp.optimise(
            BLOCK, start=[0, 0], end=[1, 0], duration=1.0, cost=lambda point: np.log(-1.0 - point.u[0] ** 2)
        )


def test_too_few_intervals_are_refined():
    x = kp.optimise(CART_POLE, **SWING_UP, intervals=6)
    assert x.rounds[0]["intervals"] == 6
    assert len(x.rounds) > 1
    assert x.error <= 1e-4


def test_a_missing_extra_is_reported(monkeypatch):
    from kinpair.optimisation import ipopt

    ipopt.library.cache_clear()
    monkeypatch.setattr(ipopt.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(kp.MissingExtraError, match="optimise"):
        kp.optimise(BLOCK, start=[0, 0], end=[1, 0], duration=1.0)
    ipopt.library.cache_clear()


def test_an_interrupt_keeps_the_last_iterate():
    calls = []

    def progress(part):
        calls.append(part)
        if len(calls) == 4:
            raise KeyboardInterrupt

    with pytest.warns(kp.RunWarning, match="stopped after"):
        x = kp.optimise(CART_POLE, **SWING_UP, progress=progress)
    assert x.status == "stopped"
    assert x.states.shape == (91, 4)
    assert calls[-1] <= 1.0


def test_entries_of_a_large_program_have_places_inside_it():
    """Rows times columns exceed 2³¹."""
    from scipy import sparse

    from kinpair.optimisation.nonlinear_program import Bounds, NonlinearProgram

    n = 50_000
    both, diagonal = Bounds(np.zeros(n), np.ones(n)), sparse.eye(n, format="csr")
    C = sparse.csr_matrix((n, 0))
    program = NonlinearProgram([], diagonal, C, np.zeros(0), both, both, lambda row: ("", 0, np.nan))
    assert (program.J_rows == np.arange(n)).all()
    assert (program.J_columns == np.arange(n)).all()


def test_a_post_is_passed_between_the_points_of_the_mesh_too():
    """A point mass around a disc of 0.3 m: no point of the path is inside by more than ten times the accuracy."""

    def plane(x, u):
        return np.array([x[2], x[3], u[0], u[1]])

    m = kp.dynamics(plane, ("x", "y", "vx", "vy"), ("fx", "fy"))
    post = {"post": (0.09, lambda p: (p["x"] - 1) ** 2 + (p["y"] - 0.05) ** 2, None)}
    x = kp.optimise(m, start=[0, 0, 0, 0], end=[2, 0, 0, 0], duration=1.0, path=post, intervals=5)
    q = x.at(np.linspace(0.0, 1.0, 2001)).q
    assert ((q[:, 0] - 1) ** 2 + (q[:, 1] - 0.05) ** 2).min() >= 0.09 - 1e-3 * 1.09 - 1e-6
    assert len(x.rounds) > 1


def test_an_unstable_motion_says_so():
    """ẋ = 2x + u over 20 s magnifies rounding to more than any accuracy."""
    m = kp.dynamics(lambda x, u: np.array([2 * x[0] + u[0]]), ("x",), ("u",))
    with pytest.warns(kp.RunWarning, match="the motion is unstable: errors of intervals"):
        x = kp.optimise(m, start=[1.0], end=[1.0], duration=20.0)
    assert x.solved
    assert x.errors[0].intervals.max() <= 1e-6
    assert x.cost == approx(4.0, rel=1e-4)  # to the stable manifold: u = −4 x


def test_an_interrupt_on_a_finer_mesh_keeps_the_solution_of_the_coarser_one():
    first = kp.optimise(CART_POLE, **SWING_UP, intervals=6, accuracy=None)
    calls = []

    def progress(part):
        calls.append(part)
        if len(calls) == first.outcome.iterations + 4:
            raise KeyboardInterrupt

    with pytest.warns(kp.RunWarning, match="stopped after"):
        x = kp.optimise(CART_POLE, **SWING_UP, intervals=6, progress=progress)
    assert x.status == "stopped"
    assert x.cost == first.cost
    assert len(x.rounds) == 2


# several phases, parameters, shooting


def test_two_phases_that_are_linked_are_one_motion():
    """The fastest motion of a block through a gate on its way takes 2 s as without the gate."""
    limits = {"force": 1.0}
    phases = [
        kp.phase(BLOCK, start=[0, 0], cost="time", limits=limits),
        kp.phase(BLOCK, end=[1, 0], cost="time", limits=limits),
    ]
    links = {
        "continuous": lambda start_1, end_1, start_2, end_2: end_1.x - start_2.x,
        "gate": lambda start_1, end_1, start_2, end_2: end_1.x[0] - 0.5,
    }
    x = kp.optimise(phases, boundary=links, intervals=8)
    assert x.duration == approx(2.0, abs=1e-6)
    assert x.durations == approx([1.0, 1.0], abs=1e-5)
    assert x.at(1.0).q == approx([0.5, 1.0], abs=1e-5)


def test_a_parameter_is_chosen_with_the_motion():
    """ẍ = u + a from rest to x(1) = 1, least ∫u² + 4 a²: u = c (1 − t), c/3 + a/2 = 1, so a = 6/19."""
    f = kp.dynamics(lambda x, u, time, p: np.array([x[1], u[0] + p["push"]]), ("x", "v"), ("u",))
    goal = {
        "start": [0, 0],
        "end": {"x": 1.0},
        "duration": 1.0,
        "parameters": {"push": (-5, 5)},
        "intervals": 12,
    }
    x = kp.optimise(f, **goal, terminal=lambda start, end: 4.0 * start["push"] ** 2)
    push = x.parameters["push"]
    assert push == approx(6 / 19, abs=1e-6)
    assert x.cost == approx((3 * (1 - push / 2)) ** 2 / 3 + 4 * push**2, rel=1e-6)


def test_shooting_finds_what_collocation_finds():
    x = kp.optimise(CART_POLE, **SWING_UP, method="shooting", intervals=60)
    assert x.cost == approx(58.8077, abs=1e-3)
    assert x.error <= 1e-4


@pytest.mark.long("an integrated interval of a mechanism takes some seconds to compile")
def test_shooting_of_a_mechanism_finds_what_collocation_finds():
    m = kp.example("double-pendulum")
    goal = {"start": [0, 0], "end": [1, 0.5], "duration": 1.0}
    other = kp.optimise(m, **goal)
    same = kp.optimise(m, **goal, method="shooting", guess=(other.time, other.states, other.inputs))
    assert same.cost == approx(other.cost, rel=1e-4)


def test_shooting_names_what_it_needs():
    m = kp.example("five-bar")
    with pytest.raises(
        kp.InputError, match="method 'shooting' needs accelerations as functions of the state"
    ):
        kp.optimise(
            m, start=m.start(), end=m.start(), duration=1.0, method="shooting", actuators=["left-crank"]
        )
    with pytest.raises(kp.InputError, match="shooting=True"):
        kp.optimise(
            [kp.phase(kp.example("double-pendulum"), start=[0, 0], end=[1, 1], duration=1.0)],
            method="shooting",
        )


def test_every_module_is_imported_and_the_functions_still_work():
    """`kp.dynamics`, `kp.phase` and `kp.optimise` are functions whatever modules are imported."""
    import importlib
    import pkgutil

    import kinpair.optimisation as package

    for module in pkgutil.iter_modules(package.__path__, "kinpair.optimisation."):
        importlib.import_module(module.name)
    assert kp.optimise(
        kp.dynamics(double_integrator, ("a", "b"), ("u",)), start=[0, 0], end=[1, 0], duration=1.0
    ).solved


def test_a_motion_a_run_or_a_table_starts_the_iteration():
    m = kp.example("double-pendulum")
    goal = {"start": [0, 0], "end": [1, 0.5], "duration": 1.0, "intervals": 10, "accuracy": None}
    first = kp.optimise(m, **goal)
    run = kp.simulate(m, [0, 0], [0, 0], duration=1.0, torque=(first.time, first.inputs))
    for guess in (first, kp.motion.cycloid([0, 0], [1, 0.5], 1.0), run, (first.time, first.states)):
        assert kp.optimise(m, **goal, guess=guess).cost == approx(first.cost, rel=1e-6)
