from functools import partial

import numpy as np
import pytest

from kinpair.algebra.choice import less, where
from kinpair.compiler import machine_code
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.schedule import schedule
from kinpair.compiler.trace import trace
from traced import chain, links, three

program = trace(chain(links(6)), three(6))


@pytest.mark.parametrize(("whole", "piece"), [(10_000, 1), (1, 100), (1, 37)])
def test_every_value_is_made_before_it_is_used(whole, piece):
    plan = schedule(program, whole, piece)
    done: set[int] = set()
    for part in plan.pieces:
        for x in part.nodes:
            assert all(y.id in done for y in x.args if y.args)
            done.add(x.id)
    assert done >= {x.id for leaf in program.outputs for x in leaf.entries}
    assert len(done) == program.count["total"]


@pytest.mark.parametrize("piece", [37, 100])
def test_a_scratch_place_is_not_overwritten_while_needed(piece):
    plan = schedule(program, 1, piece)
    holds: dict[int, int] = {}
    for part in plan.pieces:
        here = {x.id for x in part.nodes}
        for x in part.nodes:
            for y in x.args:
                if y.args and y.id not in here:
                    assert holds[plan.places.slots[y.id]] == y.id
        for x in part.nodes:
            if x.id in part.carried_out:
                holds[plan.places.slots[x.id]] = x.id


def test_places_are_used_again():
    plan = schedule(program, 1, 30)
    assert plan.carried < len(plan.places.slots)


def test_a_program_in_pieces_gives_the_same(monkeypatch):
    state = np.random.default_rng(0).normal(size=(3, 21, 6))
    whole = Kernel(program)(*state)
    one = Kernel(program)(*state[:, 0])
    monkeypatch.setattr(schedule, "__defaults__", (1, 50))
    assert Kernel(program)(*state) == pytest.approx(whole, rel=1e-12, abs=1e-12)
    assert Kernel(program)(*state[:, 0]) == pytest.approx(one, rel=1e-12, abs=1e-12)


def test_results_full_of_zeros_are_cleared_and_still_right():
    """A 40 × 40 diagonal: its zeros are not stored one by one."""
    program = trace(lambda q: np.diag(q), {"q": (40,)})
    plan = schedule(program)
    assert plan.cleared == ("out0",)
    assert sum(len(places) for places in plan.places.stores.values()) == 40
    q = np.arange(1.0, 41.0)
    kernel = Kernel(program)
    dirty = np.full((19, 40, 40), 7.0)
    assert (kernel(q) == np.diag(q)).all()
    assert (kernel(np.tile(q, (19, 1)), out=dirty) == np.diag(q)).all()


@pytest.mark.parametrize("piece", [1, 2, 5])
def test_a_truth_value_goes_from_piece_to_piece(piece, monkeypatch):
    monkeypatch.setattr(machine_code, "schedule", partial(schedule, whole=1, piece=piece))

    def chosen(x):
        high = less(1.0, x[0])
        return where(high, x[1] * x[2] + x[0], 2.0) + np.sqrt(x[2]) * where(high, x[2], x[1])

    kernel = Kernel(lambda: trace(chosen, {"x": (3,)}, name="chosen"))
    states = np.array([[0.5, 2.0, 3.0], [1.5, 2.0, 3.0], [np.nan, 2.0, 3.0]])
    expected = [float(chosen(x)) for x in states[:2]]
    assert [kernel(x) for x in states[:2]] == pytest.approx(expected)
    assert kernel(states)[:2] == pytest.approx(expected)
