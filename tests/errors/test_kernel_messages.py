"""Calls of a compiled mechanism: every message word for word, and what unusual arguments give."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.compiler.cache import contents
from kinpair.compiler.program import flatten
from kinpair.evaluation import kernels

ARM = kp.example("scara")
FLOATING = kp.example("floating-arm")
EXPECTED = "expected (4,) or (batch, 4): shoulder, elbow, lift, turn"
WAYS = ", ".join(ARM.methods["mass_matrix"])
NUMBERS = "expected shape (4,) or (batch, 4)"
FRAMES = "Links and frames: ground, upper-arm, forearm, quill, flange, tool"
one, rows = np.zeros(4), np.zeros((3, 4))
MOTION = zoo.motions(ARM, 40)
Q, QD, QDD = MOTION.q, MOTION.qd, MOTION.qdd
CALL_AGAIN = 2  # the first call compiles, the second one goes to the machine code directly

REFUSED = {
    "quantity": (
        lambda: ARM.kernel("mass_matrx"),
        "no quantity 'mass_matrx'; did you mean 'mass_matrix'? Quantities: inverse_dynamics, forward_dynamics, "
        "mass_matrix, coriolis_matrix, bias_forces, gravity_forces, reactions, resultant, regressor, "
        "inverse_dynamics_derivatives, forward_dynamics_derivatives, energy, pose, poses, jacobian, jacobian_rate, "
        "twists, twist_rates, centre_of_mass, momentum, dq_dt, actuation, row_groups, forward_dynamics_in_phases",
    ),
    "frame": (
        lambda: ARM.kernel("pose", frame="tol"),
        f"scara: no link or frame 'tol'; did you mean 'tool'? {FRAMES}",
    ),
    "loops": (
        lambda: ARM.kernel("mass_matrix", rolled=True),
        "scara: mass_matrix cannot be compiled as loops over the bodies: only these can: inverse_dynamics, "
        "forward_dynamics, bias_forces, gravity_forces, energy, energies, centre_of_mass, momentum, dq_dt, "
        "mass_product, mass_solution, pose_rows, wrenches, actuation; leave out rolled=True",
    ),
    "loops of a method": (
        lambda: ARM.kernel("inverse_dynamics", method="kane", rolled=True),
        "scara: inverse_dynamics cannot be compiled as loops over the bodies: method 'kane' has no steps from body to "
        "body; 'newton-euler' and 'denoc' have; leave out rolled=True",
    ),
    "loops under constraints": (
        lambda: kp.example("four-bar").kernel("bias_forces", rolled=True),
        "four-bar: bias_forces cannot be compiled as loops over the bodies: the mechanism has constraints; leave "
        "out rolled=True",
    ),
    "no frame": (lambda: ARM.kernel("jacobian"), f"jacobian needs a frame; {FRAMES}"),
    "useless frame": (lambda: ARM.kernel("mass_matrix", frame="tool"), "mass_matrix takes no frame"),
    "useless wrench": (
        lambda: ARM.kernel("mass_matrix", external=("tool",)),
        "mass_matrix takes no external wrenches",
    ),
    "one name": (
        lambda: ARM.kernel("mass_matrix", parameters="quill.mass"),
        "parameters is 'quill.mass'; give a tuple of names, ('quill.mass',)",
    ),
    "no type": (
        lambda: ARM.kernel("mass_matrix", dtype="junk"),
        "dtype 'junk': compiled code works in float64 or float32",
    ),
    "one way": (
        lambda: ARM.kernel("energy", method="denoc"),
        "scara: energy has no method 'denoc'; it has one method only",
    ),
    "external": (
        lambda: ARM.kernel("inverse_dynamics", external=("tol",)),
        f"scara: no link or frame 'tol'; did you mean 'tool'? {FRAMES}",
    ),
    "parameter": (
        lambda: kp.example("cart-pole").kernel("mass_matrix", parameters=("pole.mas",)),
        "cart-pole: no parameter 'pole.mas'; did you mean 'pole.mass'? Parameters: cart.mass, cart.com.x, "
        "cart.com.y, cart.com.z, cart.inertia.xx, cart.inertia.yy, cart.inertia.zz, cart.inertia.xy, "
        "cart.inertia.xz, cart.inertia.yz, pole.mass, pole.com.x, pole.com.y, pole.com.z, pole.inertia.xx, "
        "pole.inertia.yy, pole.inertia.zz, pole.inertia.xy, pole.inertia.xz, pole.inertia.yz, ... (26 in all)",
    ),
    "method": (
        lambda: ARM.kernel("mass_matrix", method="denocc"),
        f"scara: mass_matrix has no method 'denocc'; did you mean 'denoc'? Methods: {WAYS}",
    ),
    "type of a kernel": (
        lambda: ARM.kernel("mass_matrix", dtype="int32"),
        "dtype int32: compiled code works in float64 or float32",
    ),
    "ahead": (
        lambda: ARM.compile("mass_matrix", frame="", method="denocc"),
        f"scara: mass_matrix has no method 'denocc'; did you mean 'denoc'? Methods: {WAYS}",
    ),
    "length": (lambda: ARM.inverse_dynamics(one, one, np.zeros(5)), f"scara: qdd has shape (5,); {EXPECTED}"),
    "axes": (
        lambda: ARM.inverse_dynamics(np.zeros((2, 2, 4)), one, one),
        f"scara: q has shape (2, 2, 4); {EXPECTED}",
    ),
    "number": (lambda: ARM.mass_matrix(0.5), f"scara: q has shape (); {EXPECTED}"),
    "rows": (
        lambda: ARM.inverse_dynamics(rows, np.zeros((4, 4)), one),
        "scara: batches differ in length: q has 3, qd has 4 rows",
    ),
    "words": (
        lambda: ARM.inverse_dynamics(one, "abc", one),
        f"scara: qd is not an array of real numbers (it is str); {NUMBERS}",
    ),
    "nothing": (
        lambda: ARM.gravity_forces(None),
        f"scara: q is not an array of real numbers (it is NoneType); {NUMBERS}",
    ),
    "complex": (
        lambda: ARM.inverse_dynamics(one, one, one + 1j),
        f"scara: qdd is not an array of real numbers (it is complex); {NUMBERS}",
    ),
    "wrench": (
        lambda: ARM.inverse_dynamics(one, one, one, external={"tool": np.zeros(5)}),
        "scara: external['tool'] has shape (5,); expected (6,) or (batch, 6): nx, ny, nz, fx, fy, fz",
    ),
    "threads": (
        lambda: ARM.inverse_dynamics(rows, one, one, threads=0),
        "inverse_dynamics: threads=0; it must be a whole number, at least 1",
    ),
    "out length": (
        lambda: ARM.inverse_dynamics(one, one, one, out=np.zeros(5)),
        "inverse_dynamics: out= for result is float64 (5,); it must be an array float64 (4,)",
    ),
    "out rows": (
        lambda: ARM.mass_matrix(rows, out=np.zeros((2, 4, 4))),
        "mass_matrix: out= for result is float64 (2, 4, 4); it must be an array float64 (3, 4, 4)",
    ),
    "out type": (
        lambda: ARM.bias_forces(one, one, out=np.zeros(4, "float32")),
        "bias_forces: out= for result is float32 (4,); it must be an array float64 (4,)",
    ),
    "quaternion": (
        lambda: FLOATING.mass_matrix(np.zeros(10)),
        "floating-arm: joint 'base' has the quaternion 0 0 0 0 in q, which is not a rotation; the identity is 0 0 0 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_call_is_explained(name):
    call, message = REFUSED[name]
    for _ in range(CALL_AGAIN):
        with pytest.raises(kp.InputError) as caught:
            call()
        assert str(caught.value) == message


@pytest.mark.parametrize("out", [np.zeros((5, 4)), np.zeros(4, "float32"), np.zeros(5), [0.0] * 4])
def test_forward_dynamics_looks_at_out(out):
    with pytest.raises(kp.InputError, match="out= "):
        ARM.forward_dynamics(one, one, one, out=out)


def test_a_parameter_given_twice_is_refused():
    with pytest.raises(kp.InputError, match=r"quill\.mass"):
        _ = ARM.kernel("mass_matrix", parameters=("quill.mass", "quill.mass")).graph


def same(found, expected) -> bool:
    return all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(found, expected, strict=True))


UNUSUAL = {
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x)) if x.ndim == 2 else tuple(x),
    "fortran order": np.asfortranarray,
    "every second row of more": lambda x: np.repeat(x, 2, axis=0)[::2],
    "turned around twice": lambda x: x[..., ::-1].copy()[..., ::-1],
    "not writable": lambda x: _frozen(x),
    "swapped bytes": lambda x: x.astype(">f8"),
    "not aligned": lambda x: _unaligned(x),
}


def _frozen(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def _unaligned(x):
    room = np.zeros(x.nbytes + 1, dtype=np.uint8)[1:]
    built = room.view(float).reshape(x.shape)
    built[...] = x
    assert not built.flags.aligned
    return built


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_arrays_give_the_same_bits(name):
    make = UNUSUAL[name]
    for state in ((Q, QD, QDD), (Q[7], QD[7], QDD[7])):
        expected = ARM.inverse_dynamics(*state)
        for _ in range(CALL_AGAIN):
            assert (ARM.inverse_dynamics(*map(make, state)) == expected).all()


def test_whole_and_short_numbers_are_taken():
    whole = np.array([1, -2, 0, 3])
    expected = ARM.inverse_dynamics(whole.astype(float), one, one)
    for kind in ("int64", "int8", "float32", "bool"):
        x = whole.astype(kind)
        assert (ARM.inverse_dynamics(x, one, one) == ARM.inverse_dynamics(x.astype(float), one, one)).all()
    assert (ARM.inverse_dynamics(whole.tolist(), one, one) == expected).all()


CALLS = {
    "inverse_dynamics": lambda m, q, qd, x, **k: m.inverse_dynamics(q, qd, x, **k),
    "forward_dynamics": lambda m, q, qd, x, **k: m.forward_dynamics(q, qd, x, **k),
    "mass_matrix": lambda m, q, qd, x, **k: m.mass_matrix(q, **k),
    "reactions": lambda m, q, qd, x, **k: m.reactions(q, qd, x, **k),
    "energy": lambda m, q, qd, x, **k: m.energy(q, qd, **k),
    "pose": lambda m, q, qd, x, **k: m.pose(q, m.frames[-1], **k),
    "dq_dt": lambda m, q, qd, x, **k: m.dq_dt(q, qd, **k),
    "derivatives": lambda m, q, qd, x, **k: m.inverse_dynamics_derivatives(q, qd, x, **k),
}


def leaves(result) -> list[np.ndarray]:
    return [np.asarray(x) for _, x in flatten(result)[1]]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("m", [ARM, FLOATING], ids=lambda m: m.name)
def test_a_row_does_not_depend_on_its_batch(m, name):
    s, call = zoo.motions(m, 40), CALLS[name]
    whole = leaves(call(m, s.q, s.qd, s.qdd))
    for part in (slice(0, 1), slice(3, 20), slice(31, 40), slice(5, 5)):
        for threads in (1, 2):
            result = leaves(call(m, s.q[part], s.qd[part], s.qdd[part], threads=threads))
            assert all(a.shape[0] == part.stop - part.start for a in result)
            assert same(result, [x[part] for x in whole])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_bad_in_one_row_stays_there(name, bad):
    s, call = zoo.motions(ARM, 12), CALLS[name]
    before = leaves(call(ARM, s.q, s.qd, s.qdd))
    s.q[5, 1] = s.qd[5, 1] = bad
    after = leaves(call(ARM, s.q, s.qd, s.qdd))
    rest = np.arange(12) != 5
    assert same([x[rest] for x in after], [x[rest] for x in before])
    assert not all(np.isfinite(x[5]).all() for x in after)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("m", [ARM, FLOATING, ARM.reference], ids=["scara", "floating", "reference"])
def test_results_are_the_callers_own(m, name):
    s = zoo.motions(m, 3)
    for state in ((s.q, s.qd, s.qdd), (s.q[0].copy(), s.qd[0].copy(), s.qdd[0].copy())):
        kept = copy.deepcopy(state)
        first = leaves(CALLS[name](m, *state))
        copies = copy.deepcopy(first)
        for x in leaves(CALLS[name](m, *state)):
            assert not any(np.may_share_memory(x, y) for y in (*state, *first))
            if x.ndim:
                x[...] = np.nan
        assert same(first, copies)
        assert same(state, kept)


def test_copies_compute_the_same():
    tau = ARM.inverse_dynamics(Q, QD, QDD)
    for other in (pickle.loads(pickle.dumps(ARM)), copy.copy(ARM), copy.deepcopy(ARM)):
        assert (other.inverse_dynamics(Q, QD, QDD) == tau).all()
        assert other.compiled
    assert not pickle.loads(pickle.dumps(ARM.reference)).compiled


def test_single_precision_on_request():
    kernel = ARM.kernel("inverse_dynamics", dtype="float32")
    tau = ARM.inverse_dynamics(Q, QD, QDD)
    single = [x.astype("float32") for x in (Q, QD, QDD)]
    for result, expected in ((kernel(*single), tau), (kernel(*(x[3] for x in single)), tau[3])):
        assert result.dtype == np.float32
        assert zoo.relative_error(result, expected) < 1e-5
    assert kernel(Q, QD, QDD).dtype == np.float32


def test_threads_may_call_one_mechanism_at_once():
    """The first calls included: each compiles, and none sees half of it."""
    arm = kp.example("scara")
    expected, wrong = leaves((ARM.inverse_dynamics(Q, QD, QDD), ARM.mass_matrix(Q[0]))), []

    def work() -> None:
        try:
            for _ in range(30):
                if not same((arm.inverse_dynamics(Q, QD, QDD), arm.mass_matrix(Q[0])), expected):
                    wrong.append("other numbers")
        except Exception as problem:
            wrong.append(repr(problem))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not any(worker.is_alive() for worker in workers)
    assert wrong == []


@pytest.fixture
def cache(monkeypatch, tmp_path) -> Path:
    directory = tmp_path / "cache"
    monkeypatch.setenv("KINPAIR_CACHE", str(directory))
    return directory


def never(*_, **__):
    raise AssertionError("traced although the code was kept")


SECOND = """
import sys, kinpair as kp, kinpair.evaluation.kernels
if sys.argv[1] == "again":
    def never(*_, **__): raise SystemExit("traced although the code was kept")
    kinpair.evaluation.kernels.trace = never
q = [[0.1, 0.2, 0.3, 0.4]] * 3
print(kp.example("scara").inverse_dynamics(q, q, q).tolist(), kp.example("scara").mass_matrix(q[0]).tolist())
"""


def test_a_second_process_does_not_trace(cache):
    run = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SECOND, word], capture_output=True, text=True, check=True
        ).stdout
        for word in ("first", "again")
    ]
    assert run[0] == run[1] != ""


def test_kept_code_is_not_traced_again(cache, monkeypatch):
    tau = kp.example("scara").inverse_dynamics(Q, QD, QDD)
    monkeypatch.setattr(kernels, "trace", never)
    assert (kp.example("scara").inverse_dynamics(Q, QD, QDD) == tau).all()
    with pytest.raises(AssertionError, match="traced"):
        kp.example("scara").inverse_dynamics(Q, QD, QDD, passive=False)
    with pytest.raises(AssertionError, match="traced"):
        kp.example("kr5").inverse_dynamics(*np.zeros((3, 5, 6)))


def test_a_damaged_entry_is_compiled_again(cache):
    tau = kp.example("scara").inverse_dynamics(Q, QD, QDD)
    for _, _, entry in contents(cache):
        content = bytearray(entry.read_bytes())
        content[-9] ^= 1
        entry.write_bytes(content)
    with pytest.warns(kp.CacheWarning) as caught:
        assert (kp.example("scara").inverse_dynamics(Q, QD, QDD) == tau).all()
    for warning in caught:
        path, _, text = str(warning.message).partition(": ")
        assert Path(path).parent == cache
        assert text == (
            "is damaged, or the entry of another key (its checksum does not fit); it was not used and the code "
            "is compiled again. Delete it, or set KINPAIR_CACHE to a directory of your own"
        )
    assert (kp.example("scara").inverse_dynamics(Q, QD, QDD) == tau).all()


def test_without_a_place_to_write_there_is_no_cache(cache, monkeypatch):
    cache.write_text("in the way")
    monkeypatch.setenv("KINPAIR_CACHE", str(cache / "below"))
    with pytest.warns(kp.CacheWarning) as caught:
        tau = kp.example("scara").inverse_dynamics(Q, QD, QDD)
    assert (tau == ARM.inverse_dynamics(Q, QD, QDD)).all()
    text = {str(warning.message) for warning in caught}
    assert (
        f"{cache / 'below'}: cannot be written (Not a directory); compiled code is not kept for the next run. "
        "Set KINPAIR_CACHE to a directory you can write"
    ) in text


def test_a_file_in_place_of_the_directory_is_left_alone(cache):
    cache.write_text("in the way")
    cache.chmod(0o600)
    with pytest.warns(kp.CacheWarning) as caught:
        tau = kp.example("scara").inverse_dynamics(Q, QD, QDD)
    text = " ".join(str(warning.message) for warning in caught)
    assert f"{cache}: is not what it should be (a link or a special file); it was not used" in text
    assert (tau == ARM.inverse_dynamics(Q, QD, QDD)).all()
    assert cache.read_text() == "in the way"


def test_a_cache_made_by_a_mechanism_is_private(cache):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.example("scara").mass_matrix(one)
    assert os.stat(cache).st_mode & 0o777 == 0o700
    assert {os.stat(entry).st_mode & 0o777 for entry in cache.iterdir()} == {0o600}


# Several results, copies, and odd memory.

TWO = kp.compile(lambda x: (x + 1, x + 2), np.zeros(3))


@pytest.mark.parametrize("rows", [(), (5,)], ids=["one", "batch"])
def test_results_that_overlap_are_refused(rows):
    x, memory = np.ones((*rows, 3)), np.zeros((*rows, 4))
    TWO(x)
    for out in ((memory[..., :3], memory[..., 1:]), (memory[..., :3],) * 2):
        with pytest.raises(kp.InputError, match="out= for 0 and 1 overlap; give each memory of its own"):
            TWO(x, out=out)
    itself = np.lib.stride_tricks.as_strided(np.zeros(3), (5, 3), (0, 8))
    with pytest.raises(kp.InputError, match="out= for 0 overlaps itself"):
        TWO(np.ones((5, 3)), out=(itself, np.zeros((5, 3))))


def test_results_in_a_dict_go_by_their_names():
    kernel = kp.compile(lambda x: {"a": x, "b": 2 * x}, np.zeros(2))
    out = {"b": np.zeros(2), "a": np.zeros(2)}
    kernel(np.ones(2), out=out)
    assert out["a"].tolist() == [1, 1]
    assert out["b"].tolist() == [2, 2]


def test_a_called_method_travels_and_keeps_its_words():
    import inspect
    import pickle

    arm = kp.example("scara")
    before = inspect.signature(arm.mass_matrix).parameters
    H = arm.mass_matrix(np.zeros(4))
    assert list(inspect.signature(arm.mass_matrix).parameters) == list(before)
    assert arm.mass_matrix.__doc__.startswith("H, symmetric")
    assert (pickle.loads(pickle.dumps(arm.mass_matrix))(np.zeros(4)) == H).all()


def test_a_kernel_does_not_travel():
    import copy

    with pytest.raises(TypeError, match="holds machine code of this process"):
        copy.deepcopy(TWO)


def test_unknown_form_of_a_kernel():
    with pytest.raises(kp.InputError, match="form 'two'; there is 'one'"):
        TWO.compile("two")


def test_threads_may_be_any_whole_number():
    arm = kp.example("scara")
    q = np.zeros((9, 4))
    assert (arm.mass_matrix(q, threads=np.int64(2)) == arm.mass_matrix(q)).all()
    with pytest.raises(kp.InputError, match=r"threads='2'; it must be a whole number"):
        arm.mass_matrix(q, threads="2")


def test_what_does_not_move_has_empty_derivatives():
    m = kp.build(kp.Builder("z").link("a", mass=1.0).joint("w", "fixed", "ground", "a"))
    assert [x.shape for x in m.inverse_dynamics_derivatives([], [], [])] == [(0, 0)] * 2
    assert [x.shape for x in m.forward_dynamics_derivatives([], [], [])] == [(0, 0)] * 3
    assert [x.shape for x in m.kernel("inverse_dynamics_derivatives")([], [], [])] == [(0, 0)] * 2


def test_a_state_too_large_stays_in_its_row():
    arm = kp.example("two-handed-arm")
    q = np.zeros((3, 9))
    q[1, 8] = 1e300
    qdd = arm.forward_dynamics(q, np.zeros(9), np.zeros(9))
    assert np.isfinite(qdd[[0, 2]]).all()
    assert not np.isfinite(qdd[1]).all()


@pytest.mark.parametrize("x", [1e-300, 1e-17, 1e-8, 0.3, 0.999, 1.0, 1.001, -5.0, 710.0])
def test_hyperbolic_functions_lose_no_digits(x):
    for f in (np.sinh, np.cosh):
        assert kp.compile(lambda v, f=f: f(v), 1.0)(x) == pytest.approx(
            f(x), rel=1e-15 if abs(x) < 2 else 1e-13
        )


@pytest.mark.parametrize("size", [0.0, 1e-200, 1.0, 1e200])
def test_hypotenuse_of_any_size(size):
    assert kp.compile(lambda a, b: np.hypot(a, b), 1.0, 1.0)(3 * size, 4 * size) == pytest.approx(
        5 * size, rel=1e-15
    )


def test_a_cache_entry_that_makes_no_sense_is_compiled_again(tmp_path, monkeypatch):
    from kinpair.compiler.cache import Store
    from kinpair.errors import CacheWarning

    monkeypatch.setenv("KINPAIR_CACHE", str(tmp_path / "cache"))
    keep = Store.put
    with monkeypatch.context() as patched:
        patched.setattr(Store, "put", lambda store, key, _: keep(store, key, b"x"))
        expected = kp.example("scara").mass_matrix(np.zeros(4))
    with pytest.warns(CacheWarning, match="its content makes no sense"):
        result = kp.example("scara").mass_matrix(np.zeros(4))
    assert (result == expected).all()
