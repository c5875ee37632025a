import numpy as np
import pytest

from kinpair.algebra.choice import less, where
from kinpair.compiler import llvm, machine_code
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.lanes import tiles
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


def in_pieces(monkeypatch, piece):
    """From now on programs are cut after so many operations."""
    monkeypatch.setattr(schedule, "__defaults__", (1, piece))
    monkeypatch.setattr(machine_code, "CACHED", 1)
    monkeypatch.setattr(machine_code, "TURN", piece)


@pytest.mark.parametrize("rows", [1, 3, 21, 64, 101])
@pytest.mark.parametrize("groups", [(1, 1), (2, 4), (3, 3)])
def test_a_program_in_pieces_gives_the_same(monkeypatch, rows, groups):
    """Whole groups of blocks, a group that is not full, and a block that is not."""
    state = np.random.default_rng(0).normal(size=(3, rows, 6))
    whole = Kernel(program)(*state)
    one = Kernel(program)(*state[:, 0])
    in_pieces(monkeypatch, 50)
    monkeypatch.setattr(llvm, "GROUPS", groups)
    assert Kernel(program)(*state) == pytest.approx(whole, rel=1e-12, abs=1e-12)
    assert Kernel(program)(*state[:, 0]) == pytest.approx(one, rel=1e-12, abs=1e-12)


def test_results_full_of_zeros_are_cleared_and_still_right():
    """A 40 × 40 diagonal: its zeros are not stored one by one."""
    program = trace(lambda q: np.diag(q), {"q": (40,)})
    plan = schedule(program)
    assert plan.cleared == {"out0": frozenset(i for i in range(1600) if i % 41)}
    assert sum(len(places) for places in plan.places.stores.values()) == 40
    q = np.arange(1.0, 41.0)
    kernel = Kernel(program)
    dirty = np.full((19, 40, 40), 7.0)
    assert (kernel(q) == np.diag(q)).all()
    assert (kernel(np.tile(q, (19, 1)), out=dirty) == np.diag(q)).all()


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_tiles_of_a_result_are_those_with_values_and_those_of_zeros(lanes):
    """Each whole tile once; a tile of zeros has none of the values."""
    n, values = 7, np.array([0, 8, 9, 30, 31, 45])
    filled, blank = tiles(set(range(n * n)) - set(values.tolist()), n * n, lanes)
    assert sorted(filled + blank) == list(range(0, n * n - lanes + 1, lanes))
    assert {int(k) // lanes * lanes for k in values if k < n * n // lanes * lanes} == set(filled)


@pytest.mark.parametrize("rows", [1, 5, 8, 16, 37])
@pytest.mark.parametrize("shape", [(6, 6), (7, 7), (5, 13)])
def test_a_result_full_of_zeros_is_written_whole(shape, rows):
    """Blocks of values and of zeros, tiles of both, a rest that is no tile, and rows that are no whole block."""
    m, n = shape
    here = np.add.outer(np.arange(m), 2 * np.arange(n)) % 5 == 0
    here[m // 2] = False

    def sparse(q):
        return np.where(here, np.outer(q[:m], q[m:]), 0.0)

    kernel = Kernel(trace(sparse, {"q": (m + n,)}))
    q = np.random.default_rng(rows).normal(size=(rows, m + n))
    dirty = np.full((rows + 2, m, n), np.nan)
    assert kernel(q, out=dirty[1:-1]) is not None
    assert (dirty[1:-1] == np.array([sparse(x) for x in q])).all()
    assert np.isnan(dirty[[0, -1]]).all()


@pytest.mark.parametrize("piece", [1, 2, 5])
def test_a_truth_value_goes_from_piece_to_piece(piece, monkeypatch):
    in_pieces(monkeypatch, piece)

    def chosen(x):
        high = less(1.0, x[0])
        return where(high, x[1] * x[2] + x[0], 2.0) + np.sqrt(x[2]) * where(high, x[2], x[1])

    kernel = Kernel(lambda: trace(chosen, {"x": (3,)}, name="chosen"))
    states = np.array([[0.5, 2.0, 3.0], [1.5, 2.0, 3.0], [np.nan, 2.0, 3.0]])
    expected = [float(chosen(x)) for x in states[:2]]
    assert [kernel(x) for x in states[:2]] == pytest.approx(expected)
    assert kernel(states)[:2] == pytest.approx(expected)
