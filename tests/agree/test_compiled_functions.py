"""One number by six roads: floats, interpreter, code for one state, code for batches, C, CasADi, SymPy."""

import ctypes
import subprocess

import numpy as np
import pytest

from c_compiler import STRICT
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from traced import FUNCTIONS, chain, links, three

SHAPES = {"x": (2,), "y": (2,)}
STATES = np.random.default_rng(2).uniform(-2, 2, size=(2, 19, 2))
STATES[:, 3] = [[0.5, -0.5], [0.5, 1.0]]  # equal entries
CLOSE = {"rel": 1e-14, "abs": 1e-14}


def compiled_c(kernel: Kernel, folder, count: int):
    """The exported function, compiled strictly, as a function of arrays."""
    source = kernel.c(folder / "exported.c")
    flags = [*STRICT, "-O1"]
    library = folder / "exported.so"
    subprocess.run([*flags, "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    subprocess.run([*flags, source, folder / "exported_test.c", "-o", folder / "test", "-lm"], check=True)
    assert subprocess.run([folder / "test"], check=True, capture_output=True).stdout == b"right\n"
    function = getattr(ctypes.CDLL(str(library)), kernel.signature.name)

    def call(*arguments):
        result = np.empty(count)
        arrays = [np.ascontiguousarray(a, dtype=float) for a in (*arguments,)] + [result]
        function(*[ctypes.c_void_p(a.ctypes.data) for a in arrays])
        return result

    return call


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_roads_agree(name, tmp_path):
    function = FUNCTIONS[name]
    kernel = Kernel(trace(function, SHAPES, name="f"))
    batch = kernel(*STATES)
    exported = compiled_c(kernel, tmp_path, batch.shape[1])
    casadi = kernel.casadi()
    for k, (x, y) in enumerate(zip(*STATES, strict=True)):
        expected = np.asarray(function(x, y), dtype=float)
        assert kernel.interpret(x, y) == pytest.approx(expected, **CLOSE)
        assert kernel(x, y) == pytest.approx(expected, **CLOSE)
        assert batch[k] == pytest.approx(expected, **CLOSE)
        assert exported(x, y) == pytest.approx(expected, **CLOSE)
        assert np.asarray(casadi(x, y)).reshape(-1) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sympy_means_the_same(name):
    kernel = Kernel(trace(FUNCTIONS[name], SHAPES))
    symbolic = kernel.sympy()
    names = [s for array in symbolic.inputs.values() for s in array]
    for x, y in STATES[:, :3].swapaxes(0, 1):
        values = dict(zip(names, np.concatenate([x, y]), strict=True))
        results = [float(e.subs(values)) for e in symbolic.expanded()["result"]]
        assert results == pytest.approx(
            np.asarray(FUNCTIONS[name](x, y), dtype=float).tolist(), rel=1e-13, abs=1e-13
        )


@pytest.mark.parametrize("n", [1, 3, 7])
def test_a_chain_of_bodies_by_every_road(n, tmp_path):
    torques = chain(links(n))
    kernel = Kernel(trace(torques, three(n), name="torques"))
    states = np.random.default_rng(n).normal(size=(3, 33, n))
    batch = kernel(*states)
    exported = compiled_c(kernel, tmp_path, n)
    casadi = kernel.casadi()
    for k in range(33):
        state = states[:, k]
        expected = torques(*state)
        close = {"rel": 1e-12, "abs": 1e-12 * max(1.0, abs(expected).max())}
        assert kernel.interpret(*state) == pytest.approx(expected, **close)
        assert kernel(*state) == pytest.approx(expected, **close)
        assert batch[k] == pytest.approx(expected, **close)
        assert exported(*state) == pytest.approx(expected, **close)
        assert np.asarray(casadi(*state)).reshape(-1) == pytest.approx(expected, **close)


def test_special_values_go_through_as_numpy_has_them():
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300, 1e-300])
    pairs = np.array([[(a, b) for a in special for b in special], [(b, a) for a in special for b in special]])
    for name in (
        "add",
        "sub",
        "mul",
        "div",
        "sqrt",
        "atan2",
        "exp",
        "tanh",
        "abs",
        "min",
        "max",
        "lt",
        "le",
        "sign",
    ):
        with np.errstate(all="ignore"):
            expected = np.array([FUNCTIONS[name](x, y) for x, y in zip(*pairs, strict=True)], dtype=float)
        result = Kernel(trace(FUNCTIONS[name], SHAPES))(*pairs)
        assert result == pytest.approx(expected, rel=1e-14, nan_ok=True), name
