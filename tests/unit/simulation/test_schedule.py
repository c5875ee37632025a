import numpy as np
import pytest

from kinpair.errors import InputError
from kinpair.simulation.schedule import adaptive_times, fixed_plan


@pytest.mark.parametrize(
    ("output", "sampled", "segments"),
    [
        (None, range(11), [(10, 1)]),
        (0.2, [0, 2, 4, 6, 8, 10], [(5, 2)]),
        (0.3, [0, 3, 6, 9, 10], [(3, 3), (1, 1)]),
        ([5.1, 5.5, 5.6], [1, 5, 6], [(1, 1), (1, 4), (1, 1), (1, 4)]),
        ([5.2, 5.5], [2, 5], [(1, 2), (1, 3), (1, 5)]),
        ([5.5], [5], [(2, 5)]),
        ([5.0], [0], [(1, 10)]),
        ([5.0, 6.0], [0, 10], [(1, 10)]),
    ],
)
def test_plan_of_fixed_steps(output, sampled, segments):
    plan = fixed_plan("arm", 1.0, 0.1, output, 5.0)
    assert plan.sampled.tolist() == list(sampled)
    assert [n for n in range(1, plan.steps + 2) if plan.samples_at(n)] == [n for n in sampled if n]
    assert plan.samples == len(list(sampled))
    assert segments_of(plan) == segments
    assert plan.from_start == (sampled[0] == 0)


def segments_of(plan):
    """Samples at equal distances and the steps between them, block after block."""
    results, step = [], 0
    while step < plan.steps:
        samples, every = plan.ahead(step)
        results.append((samples, every))
        step += samples * every
    return results


def test_the_samples_ahead_are_those_of_the_plan_from_any_step():
    plan = fixed_plan("arm", 1.0, 0.1, 0.3, 0.0)
    assert [plan.ahead(n) for n in range(plan.steps)] == [
        *((3, 3), (1, 2), (1, 1)), *((2, 3), (1, 2), (1, 1)), *((1, 3), (1, 2), (1, 1)), (1, 1),
    ]  # fmt: skip


def test_many_steps_give_bounded_samples():
    plan = fixed_plan("arm", 100.0, 1e-3, None, 0.0)
    assert len(plan.sampled) <= 10_001
    assert plan.sampled[-1] == plan.steps == 100_000


def test_times_of_adaptive_samples_end_at_the_end():
    assert adaptive_times("arm", 1.0, 0.3, 2.0) == pytest.approx([2.0, 2.3, 2.6, 2.9, 3.0])
    assert adaptive_times("arm", 0.3, 0.1, 0.0).tolist() == [0.0, 0.1, 0.2, 0.3]
    assert len(adaptive_times("arm", 1.0, None, 0.0)) == 1001


def test_times_given_are_the_times_of_the_samples():
    assert adaptive_times("arm", 1.0, [0.2, 0.5], 0.0).tolist() == [0.2, 0.5]
    assert adaptive_times("arm", 1.0, [2.2, 3.0], 2.0).tolist() == [2.2, 3.0]
    assert adaptive_times("arm", 0.3, [0.1 + 0.2], 0.0).tolist() == [0.3]


@pytest.mark.parametrize("output", [[2.0, 1.0], [0.5, 9.0], [[1.0]], [np.nan], -1.0, "often"])
def test_odd_outputs_are_refused(output):
    with pytest.raises(InputError, match="output"):
        adaptive_times("arm", 1.0, output, 0.0)
