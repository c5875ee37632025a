import numpy as np
import pytest

from kinpair.compiler.derivative import differentiate, jacobian
from kinpair.compiler.program import interpret
from kinpair.compiler.trace import trace
from kinpair.errors import InputError
from traced import FUNCTIONS, chain, links, three

STEEP = {"floor", "sign", "eq"}  # their derivative is that of the smooth pieces


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivative_is_the_limit_of_differences(name, mode):
    program = trace(FUNCTIONS[name], {"x": (2,), "y": (2,)})
    x, y, h = np.array([0.31, -1.23]), np.array([-0.72, 0.44]), 1e-6
    dx, dy = interpret(differentiate(program, ["x", "y"], mode=mode), x, y)
    for k, e in enumerate(np.eye(2) * h):
        slope_x = (np.asarray(FUNCTIONS[name](x + e, y)) - FUNCTIONS[name](x - e, y)) / (2 * h)
        slope_y = (np.asarray(FUNCTIONS[name](x, y + e)) - FUNCTIONS[name](x, y - e)) / (2 * h)
        assert dx[:, k] == pytest.approx(slope_x, rel=1e-7, abs=1e-8)
        assert dy[:, k] == pytest.approx(slope_y, rel=1e-7, abs=1e-8)


def test_forward_and_reverse_agree_with_the_complex_step():
    n = 5
    torques = chain(links(n))
    program = trace(torques, three(n))
    state = np.random.default_rng(3).normal(size=(3, n))
    forward = interpret(differentiate(program, ["q", "qd"], mode="forward"), *state)
    reverse = interpret(differentiate(program, ["q", "qd"], mode="reverse"), *state)
    for which in range(2):
        step = np.empty((n, n))
        for k in range(n):
            moved = state.astype(complex)
            moved[which, k] += 1e-30j
            step[:, k] = torques(*moved).imag / 1e-30
        scale = abs(step).max()
        assert abs(forward[which] - step).max() < 1e-13 * scale
        assert abs(reverse[which] - step).max() < 1e-13 * scale


def test_what_is_zero_stays_out():
    program = trace(lambda x: x * x, {"x": (4,)})
    derived = differentiate(program, ["x"], mode="forward")
    assert derived.output_shapes == {"dresult/dx": (4, 4)}
    assert derived.count["total"] == 4


def test_a_chosen_branch_keeps_the_other_ones_infinity_out():
    program = trace(lambda x: (x < 0.0).where(0.0, x.sqrt()), {"x": ()})
    for mode in ("forward", "reverse"):
        assert interpret(differentiate(program, ["x"], mode=mode), -1.0) == 0.0


def test_a_function_can_differentiate_inside():
    def newton_step(x):
        f = np.array([x[0] ** 2 + x[1], x[0] * x[1]])
        return jacobian(f, x)

    assert interpret(trace(newton_step, {"x": (2,)}), [3.0, 5.0]).tolist() == [[6.0, 1.0], [5.0, 3.0]]


def test_an_unknown_input_is_named():
    program = trace(lambda speed: speed * speed, {"speed": ()})
    with pytest.raises(InputError, match="has no input 'sped'; did you mean 'speed'"):
        differentiate(program, ["sped"])
    with pytest.raises(InputError, match="'forward', 'reverse' or 'auto'"):
        differentiate(program, ["speed"], mode="sideways")
