import numpy as np
import pytest

from kinpair.compiler import llvm
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace

program = trace(lambda a, b: np.outer(np.sin(a), b) @ np.outer(a, np.cos(b)), {"a": (6,), "b": (6,)})


def test_a_program_in_basic_blocks_gives_the_same(monkeypatch):
    state = np.random.default_rng(0).normal(size=(2, 21, 6))
    monkeypatch.setattr(llvm, "STORES", 1000)
    whole, one = Kernel(program)(*state), Kernel(program)(*state[:, 0])
    monkeypatch.setattr(llvm, "STORES", 5)
    assert Kernel(program)(*state) == pytest.approx(whole, rel=1e-12, abs=1e-12)
    assert Kernel(program)(*state[:, 0]) == pytest.approx(one, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("stores", "blocks"), [(1000, 0), (18, 3), (5, 8)])
def test_a_block_ends_after_so_many_stores(monkeypatch, stores, blocks):
    """36 results; the last block is the one that returns."""
    monkeypatch.setattr(llvm, "STORES", stores)
    assert Kernel(program).llvm.count("br i1 %never") == blocks
