"""CasADi's C code of the Panda's inverse dynamics, compiled by gcc -O3: what users of code generation have.

adam writes the dynamics of a URDF as CasADi expressions (H q̈ + h, common parts shared); it is measured where it is
installed (`pip install adam-robotics`), and demands are made against it. Beside it is kinpair's own formula, exported
to CasADi: the same operations, without SIMD.

One state: through CasADi's own call of the compiled library, arguments and result in place. A batch: a loop in C over
the states around CasADi's function, without Python.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks import targets
from benchmarks.batches import Row
from benchmarks.robots import random_states, robot
from benchmarks.timing import race, repeated

OWN, ADAM = "kinpair's formula, C by gcc -O3", "adam, C by gcc -O3"
LABEL, BATCH, TIMES = "Panda", 1024, 500
AGREE = 1e-9
FLAGS = ("-O3", "-march=native", "-fPIC", "-shared")
LOOP = """
void many(const double* q, const double* qd, const double* qdd, double* tau, long n, long nv,
          long long* iw, double* w) {
  for (long k = 0; k < n; ++k) {
    const double* arg[8] = {q + k * nv, qd + k * nv, qdd + k * nv};
    double* res[8] = {tau + k * nv};
    inverse_dynamics(arg, res, iw, w, 0);
  }
}
"""


def rows(turns: int) -> Iterator[Row]:
    """One state and a batch; nothing where there is no gcc."""
    if shutil.which("gcc") is None:
        return
    m = robot(LABEL).load()
    s = random_states(m, BATCH)
    q, qd, x = (y[0].copy() for y in (s.q, s.qd, s.x))
    expected, out = m.inverse_dynamics(s.q, s.qd, s.x, passive=False), np.empty((BATCH, m.nv))
    ours = {
        "one state": repeated(partial(_prepared(m, q, qd, x), q, qd, x, passive=False), times=TIMES),
        "batch": lambda: m.inverse_dynamics(s.q, s.qd, s.x, passive=False, out=out),
    }
    calls = {(form, "kinpair"): call for form, call in ours.items()}
    with tempfile.TemporaryDirectory() as folder:
        for name, function in _functions(m).items():
            (home := Path(folder) / str(len(calls))).mkdir()
            one, many, found = _compiled(function, home, s.q, s.qd, s.x)
            many()
            error = np.abs(found - expected).max() / (1.0 + np.abs(expected).max())
            assert error <= AGREE, f"{name}: other numbers, by {error:.1e}"
            calls["one state", name], calls["batch", name] = repeated(one, times=TIMES), many
        best = race(calls, turns)
    for form, states in (("one state", TIMES), ("batch", BATCH)):
        times = {name: t / states * 1e9 for (of, name), t in best.items() if of == form}
        quantity = f"inverse dynamics next to compiled C, {form}"
        demanded = {ADAM: targets.GCC[form]} if ADAM in times else {}
        yield Row(quantity, LABEL, m.nv, {"": times.pop("kinpair")}, {}, times, demanded)


def _prepared(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Callable[..., Any]:
    """The method, called before."""
    m.inverse_dynamics(q, qd, qdd, passive=False)
    return m.inverse_dynamics


def _functions(m: kp.Mechanism) -> dict[str, Any]:
    """τ of (q, q̇, q̈) as functions of CasADi, by name."""
    function = m.kernel("inverse_dynamics", passive=False).casadi()
    found = {OWN: _renamed(function.sx_in(), function.call(function.sx_in()))}
    if importlib.util.find_spec("adam") is not None:
        found[ADAM] = _adam(m)
    return found


def _renamed(inputs: list[Any], outputs: list[Any]) -> Any:
    import casadi

    return casadi.Function("inverse_dynamics", inputs, outputs, {"cse": True})


def _adam(m: kp.Mechanism) -> Any:
    """H q̈ + h by adam: its composite bodies and its Newton–Euler without accelerations."""
    import casadi
    from adam.casadi import KinDynComputations

    root = next(x for x in m.frames if x not in {joint.child for joint in m.model.description.joints})
    gravity = np.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0])
    adam = KinDynComputations(str(robot(LABEL).path), list(m.joint_names), root, gravity)
    q, qd, qdd = (casadi.SX.sym(name, m.nv) for name in ("q", "qd", "qdd"))
    base, still = casadi.SX(np.eye(4)), casadi.SX.zeros(6)
    H, h = adam.mass_matrix_fun()(base, q), adam.bias_force_fun()(base, q, still, qd)
    return _renamed([q, qd, qdd], [casadi.mtimes(H[6:, 6:], qdd) + h[6:]])


def _compiled(
    function: Any, folder: Path, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[Callable[[], None], Callable[[], None], np.ndarray]:
    """A call of one state, one of all, and where the latter writes."""
    import casadi

    code = casadi.CodeGenerator("code.c", {"with_header": False})
    code.add(function)
    source = folder / "code.c"
    source.write_text(code.dump() + LOOP)
    library = folder / "code.so"
    subprocess.run(["gcc", *FLAGS, str(source), "-o", str(library), "-lm"], check=True)
    external = casadi.external("inverse_dynamics", str(library))
    buffer, run = external.buffer()
    first, tau = [x[0].copy() for x in (q, qd, qdd)], np.empty(q.shape[1])
    for k, x in enumerate(first):
        buffer.set_arg(k, memoryview(x))
    buffer.set_res(0, memoryview(tau))
    found = np.empty_like(q)
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (q, qd, qdd, found)]
    integers = (ctypes.c_longlong * max(external.sz_iw(), 1))()
    numbers = (ctypes.c_double * max(external.sz_w(), 1))()
    loop = ctypes.CDLL(str(library)).many
    kept = (external, buffer, first, tau)

    def many() -> None:
        assert kept
        loop(*pointers, ctypes.c_long(len(q)), ctypes.c_long(q.shape[1]), integers, numbers)

    return run, many, found
