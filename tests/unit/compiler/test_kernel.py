import gc
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest

from kinpair.compiler.kernel import Kernel, compile
from kinpair.compiler.trace import trace
from traced import chain, links, three

random = np.random.default_rng(5)
TORQUES = Kernel(trace(chain(links(4)), three(4), name="torques"))
BATCH = random.normal(size=(3, 1000, 4))
EXPECTED = TORQUES(*BATCH)


class Both(NamedTuple):
    total: object
    parts: object


@pytest.mark.parametrize("rows", [*range(18), 63, 64, 65, 1000])
def test_a_row_does_not_depend_on_its_batch(rows):
    for start in (0, 1, 5, 1000 - rows):
        result = TORQUES(*BATCH[:, start : start + rows])
        assert result.shape == (min(rows, 1000 - start), 4)
        assert (result == EXPECTED[start : start + rows]).all()


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_a_row_does_not_depend_on_the_threads(threads):
    for rows in (0, 1, 8, 9, 1000):
        assert (TORQUES(*BATCH[:, :rows], threads=threads) == EXPECTED[:rows]).all()


def test_one_state_is_a_batch_of_one():
    for k in range(10):
        assert TORQUES(*BATCH[:, k]) == pytest.approx(EXPECTED[k], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_bad_in_one_row_stays_there(bad):
    spoiled = BATCH.copy()
    spoiled[1, 13, 2] = bad
    result = TORQUES(*spoiled)
    rest = np.arange(1000) != 13
    assert (result[rest] == EXPECTED[rest]).all()
    assert not np.isfinite(result[13]).all()


def test_an_argument_without_rows_serves_every_row():
    q, qd, qdd = BATCH
    tiled = np.tile(qd[0], (1000, 1))
    assert (TORQUES(q, qd[0], qdd) == TORQUES(q, tiled, qdd)).all()


def test_lists_integers_and_strides_are_taken():
    q, qd, qdd = BATCH
    assert TORQUES([0, 0, 0, 0], qd[0].tolist(), qdd[0]) == pytest.approx(TORQUES(np.zeros(4), qd[0], qdd[0]))
    assert (TORQUES(q[::2], qd[::2], qdd[::2]) == EXPECTED[::2]).all()
    assert (TORQUES(np.asfortranarray(q), qd, qdd) == EXPECTED).all()
    assert (TORQUES(q[:, ::-1][:, ::-1], qd, qdd) == EXPECTED).all()


def test_results_go_where_out_says():
    out = np.full((1000, 4), np.nan)
    assert TORQUES(*BATCH, out=out) is out
    assert (out == EXPECTED).all()
    one = np.empty(4)
    assert TORQUES(*BATCH[:, 0], out=one) is one
    wide = np.zeros((1000, 8))
    TORQUES(*BATCH, out=wide[:, ::2])
    assert (wide[:, ::2] == EXPECTED).all()


def test_out_may_be_an_input():
    q, qd, qdd = BATCH.copy()
    TORQUES(q, qd, qdd, out=q)
    assert (q == EXPECTED).all()


def test_scalars_are_floats_and_structure_is_kept():
    kernel = compile(lambda x: Both(x.sum(), (x, {"twice": 2.0 * x})), np.zeros(3))
    result = kernel(np.arange(3.0))
    assert isinstance(result, Both)
    assert result.total == 3.0
    assert isinstance(result.total, float)
    assert result.parts[1]["twice"].tolist() == [0.0, 2.0, 4.0]
    assert kernel(np.ones((5, 3))).total.tolist() == [3.0] * 5


def test_a_tuple_comes_through_the_thin_call():
    kernel = compile(lambda x, m: (m * (x @ x), np.outer(x, x)), np.zeros(2), 1.0)
    for _ in range(3):
        energy, outer = kernel(np.array([1.0, 2.0]), 3.0)
        assert (energy, outer.tolist()) == (15.0, [[1.0, 2.0], [2.0, 4.0]])
        energy, outer = kernel(np.ones((3, 2)), 2.0)
        assert (energy.tolist(), outer.shape) == ([4.0] * 3, (3, 2, 2))


def test_float32_on_request():
    kernel = Kernel(TORQUES.graph, dtype="float32")
    single = BATCH[:, :50].astype("float32")
    assert kernel(*single).dtype == np.float32
    assert kernel(*single[:, 0]).dtype == np.float32
    assert kernel(*single) == pytest.approx(EXPECTED[:50], rel=2e-3, abs=2e-3)


def test_empty_arrays_are_no_problem():
    kernel = compile(lambda x, y: (x + 1.0, y * 2.0), np.zeros(0), np.zeros(2))
    assert kernel(np.zeros(0), np.ones(2))[0].shape == (0,)
    assert kernel(np.zeros((4, 0)), np.ones((4, 2)))[1].shape == (4, 2)


def test_the_built_in_outlives_its_kernel():
    call = compile(lambda x: np.sin(x), np.zeros(2)).entry()
    gc.collect()
    for _ in range(3):
        assert call(np.zeros(2)).tolist() == [0.0, 0.0]
        assert call(np.zeros((3, 2))).tolist() == [[0.0, 0.0]] * 3


def test_calls_leak_nothing():
    kernel = compile(lambda x: (x * 2.0, x.sum()), np.zeros(3))
    x = np.ones(3)
    kernel(x), kernel(np.ones((2, 3)))
    before = sys.getrefcount(x), sys.getallocatedblocks()
    for _ in range(1000):
        kernel(x), kernel.call([1.0, 2.0, 3.0])
    gc.collect()
    assert sys.getrefcount(x) == before[0]
    assert sys.getallocatedblocks() - before[1] < 100


def test_threads_may_call_at_once():
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(50):
            if not (TORQUES(*BATCH[:, k:]) == EXPECTED[k:]).all():
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_every_stage_can_be_read():
    kernel = compile(lambda x: np.sin(x), np.zeros(2), name="wave")
    assert repr(kernel) == "<Kernel wave(x[2]) -> result[2], float64>"
    assert "sin" in str(kernel.graph)
    assert "define void @batch" in kernel.llvm
    assert "batch:" in kernel.asm
    assert kernel.count["functions"] == 2


def test_shapes_can_be_given_by_name():
    assert compile(lambda a, b: a @ b, shapes={"a": (2, 2), "b": (2,)})(np.eye(2), [1.0, 2.0]).tolist() == [
        1.0,
        2.0,
    ]


def test_a_batch_takes_no_memory_but_for_its_result():
    """Beside the scratch room of one block, which does not grow with the batch."""
    import tracemalloc

    kernel = Kernel(trace(lambda q: np.outer(q, q), {"q": (6,)}))
    rows = np.ones((20_000, 6))
    kernel(rows)
    tracemalloc.start()
    result = kernel(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.nbytes <= peak < result.nbytes + 50_000
