"""Calls that go straight to machine code give what the longer way gives, to the last bit, in the same types."""

import ctypes
import gc
import pickle
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.compiler.entry import MOST_KEPT
from kinpair.mechanism import Mechanism

CALLS = {
    "inverse": lambda m, q, qd, x, w: m.inverse_dynamics(q, qd, x),
    "no passive": lambda m, q, qd, x, w: m.inverse_dynamics(q, qd, x, passive=False),
    "method": lambda m, q, qd, x, w: m.inverse_dynamics(q, qd, x, method="denoc"),
    "two options": lambda m, q, qd, x, w: m.bias_forces(q, qd, passive=False, method="denoc"),
    "other order": lambda m, q, qd, x, w: m.bias_forces(q, qd, method="denoc", passive=False),
    "wrench": lambda m, q, qd, x, w: m.inverse_dynamics(q, qd, x, external={m.frames[-1]: w}),
    "no wrench": lambda m, q, qd, x, w: m.inverse_dynamics(q, qd, x, external=None),
    "no wrenches": lambda m, q, qd, x, w: m.inverse_dynamics(q, qd, x, external={}),
    "keywords": lambda m, q, qd, x, w: m.inverse_dynamics(q=q, qd=qd, qdd=x),
    "keywords in another order": lambda m, q, qd, x, w: m.inverse_dynamics(qdd=x, qd=qd, q=q),
    "forward": lambda m, q, qd, x, w: m.forward_dynamics(q, qd, x),
    "forward with a solver": lambda m, q, qd, x, w: m.forward_dynamics(q, qd, x, solver="multipliers"),
    "forward at a time": lambda m, q, qd, x, w: m.forward_dynamics(q, qd, x, time=2.5),
    "effort derivatives": lambda m, q, qd, x, w: m.inverse_dynamics_derivatives(q, qd, x),
    "acceleration derivatives": lambda m, q, qd, x, w: m.forward_dynamics_derivatives(q, qd, x),
    "energy": lambda m, q, qd, x, w: m.energy(q, qd),
    "pose": lambda m, q, qd, x, w: m.pose(q, m.frames[-1]),
    "pose by keyword": lambda m, q, qd, x, w: m.pose(q, frame=m.frames[-1]),
    "pose of an equal name": lambda m, q, qd, x, w: m.pose(q, "".join(list(m.frames[-1]))),
    "poses": lambda m, q, qd, x, w: m.poses(q),
    "jacobian": lambda m, q, qd, x, w: m.jacobian(q, m.frames[-1]),
    "twists": lambda m, q, qd, x, w: m.twists(q, qd),
    "momentum": lambda m, q, qd, x, w: m.momentum(q, qd),
    "centre of mass": lambda m, q, qd, x, w: m.centre_of_mass(q),
    "one thread": lambda m, q, qd, x, w: m.mass_matrix(q, threads=1),
}


@cache
def mechanism(name: str) -> Mechanism:
    return kp.example(name)


def leaves(result):
    if isinstance(result, dict):
        return [x for part in result.values() for x in leaves(part)]
    return [x for part in result for x in leaves(part)] if isinstance(result, tuple) else [result]


def longer_way(name):
    """The same mechanism, asked for the first time: nothing goes straight to machine code yet."""
    return kp.example(name)


@pytest.mark.parametrize("name", ["stanford-arm", "floating-arm"])
@pytest.mark.parametrize("call", CALLS)
def test_thin_and_longer_way_agree_to_the_last_bit(name, call):
    m, s = mechanism(name), zoo.motions(mechanism(name), 6)
    w = np.arange(6.0)
    for state in ((s.q[1], s.qd[1], s.qdd[1]), (s.q, s.qd, s.qdd)):
        expected = CALLS[call](longer_way(name), *state, w)
        for _ in range(3):
            result = CALLS[call](m, *state, w)
            assert type(result) is type(expected)
            for a, b in zip(leaves(result), leaves(expected), strict=True):
                assert np.array_equal(a, b)
                assert np.shape(a) == np.shape(b)


@pytest.mark.parametrize("name", ["stanford-arm", "floating-arm"])
@pytest.mark.parametrize("call", CALLS)
def test_the_second_call_enters_no_method(name, call):
    m, s = mechanism(name), zoo.motions(mechanism(name), 2)
    state, w, entries = (s.q[1], s.qd[1], s.qdd[1]), np.arange(6.0), []
    CALLS[call](m, *state, w)
    own = {x.__code__ for f in vars(Mechanism).values() if (x := getattr(f, "__wrapped__", None))}
    sys.setprofile(
        lambda frame, event, _: entries.append(1) if event == "call" and frame.f_code in own else None
    )
    try:
        CALLS[call](m, *state, w)
    finally:
        sys.setprofile(None)
    assert not entries


def test_lists_and_tuples_of_numbers_are_taken():
    m = mechanism("stanford-arm")
    q, qd, x = [0.1, -2, 0.25, 0, 1, -1], (0.0, 1, 2, 3, 4, np.float64(5.5)), [True, 1.0, 2.0, 0.5, 1.5, 3.0]
    expected = m.inverse_dynamics(*(np.array(y, dtype=float) for y in (q, qd, x)))
    for _ in range(2):
        assert np.array_equal(m.inverse_dynamics(q, qd, x), expected)


def test_a_wrong_frame_is_still_refused_after_a_right_one():
    m = mechanism("stanford-arm")
    for _ in range(2):
        m.pose(m.neutral(), m.frames[-1])
    with pytest.raises(kp.InputError, match="no link or frame 'nowhere'"):
        m.pose(m.neutral(), "nowhere")


@pytest.mark.parametrize("rows", [None, 5])
def test_a_quaternion_of_zeros_is_refused_by_the_longer_way(rows):
    m = mechanism("floating-arm")
    q = m.neutral() if rows is None else np.stack([m.neutral()] * rows)
    still = np.zeros((*q.shape[:-1], m.nv))
    for _ in range(2):
        m.inverse_dynamics(q, still, still)
    q[(*([3] if rows else []), slice(3, 7))] = 0.0
    with pytest.raises(kp.InputError, match="has the quaternion 0 0 0 0 in q"):
        m.inverse_dynamics(q, still, still)


def test_a_doubtful_solve_is_refused_by_the_longer_way(tmp_path):
    light = """
    name = "light"
    [[link]]
    name = "a"
    mass = 1.0
    com = [0.5, 0.0, 0.0]
    inertia = [0.1, 0.1, 0.1]
    [[link]]
    name = "b"
    [[joint]]
    name = "first"
    kind = "revolute"
    parent = "ground"
    child = "a"
    [[joint]]
    name = "second"
    kind = "prismatic"
    parent = "a"
    child = "b"
    """
    path = tmp_path / "light.toml"
    path.write_text(light)
    with pytest.warns(kp.DescriptionWarning, match="forward dynamics is singular"):
        m = kp.load(path)
    for _ in range(3):
        with pytest.raises(kp.SingularError, match="forward dynamics is singular at joint 'second'"):
            m.forward_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("rows", [(), (4,)])
def test_rates_at_rest_under_dry_friction_are_solved_by_the_longer_way(rows):
    b = kp.Builder("rough")
    b.link("sled", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.joint("rail", "prismatic", "ground", "sled", axis=(1, 0, 0), friction=3.0)
    m = kp.build(b)
    q, push = np.zeros((*rows, 1)), np.full((*rows, 1), 1.0)
    moving = np.full((*rows, 1), 0.5)
    for _ in range(3):
        assert np.allclose(m.forward_dynamics(q, moving, push), (1.0 - 3.0) / 2.0)
        assert (m.forward_dynamics(q, np.zeros((*rows, 1)), push) == 0.0).all()
        assert np.allclose(m.forward_dynamics_derivatives(q, moving, push).tau, 0.5)


@cache
def obeying(name: str, rows: int = 6):
    """States near the start of a closed mechanism, with rates and accelerations that obey."""
    m, rng = mechanism(name), np.random.default_rng(5)
    states = []
    for _ in range(rows):
        q = m.assemble(m.start() + 0.02 * rng.normal(size=m.nq))
        qd = m.velocities(q, guess=rng.normal(size=m.nv))
        states.append((q, qd, m.accelerations(q, qd, guess=rng.normal(size=m.nv))))
    return tuple(np.array(x) for x in zip(*states, strict=True))


@pytest.mark.parametrize("name", ["four-bar", "three-rrr", "stewart"])
def test_efforts_in_loops_are_those_by_singular_values(name):
    """One state and a batch, by the reference, compiled, and straight from Python; relative to the largest effort."""
    m, state = mechanism(name), obeying(name)
    expected = m.reference.inverse_dynamics(*state)
    for _ in range(3):
        assert zoo.relative_error(m.inverse_dynamics(*state), expected) < 1e-11
        one = m.inverse_dynamics(*(x[2] for x in state))
        assert zoo.relative_error(one, expected[2]) < 1e-11


def test_a_batch_with_a_state_that_breaks_a_row_names_it():
    m, (q, qd, qdd) = mechanism("four-bar"), obeying("four-bar")
    for _ in range(2):
        m.inverse_dynamics(q, qd, qdd)
    wrong = qdd.copy()
    wrong[4, 0] += 1.0
    with pytest.raises(kp.InputError, match=r"these accelerations \(state 4 of the batch\) break"):
        m.inverse_dynamics(q, qd, wrong)
    wrong[4] = np.nan
    result = m.inverse_dynamics(q, qd, wrong)
    assert np.isnan(result[4]).all()
    assert np.isfinite(np.delete(result, 4, axis=0)).all()


def test_forward_dynamics_in_loops_is_thin_and_the_same():
    m, (q, qd, tau) = mechanism("four-bar"), obeying("four-bar")
    expected = longer_way("four-bar").forward_dynamics(q[1], qd[1], tau[1])
    for _ in range(3):
        assert np.array_equal(m.forward_dynamics(q[1], qd[1], tau[1]), expected)
        assert np.array_equal(m.forward_dynamics(q[1], qd[1], tau[1], time=1.0), expected)
    with pytest.raises(kp.InputError, match="does not obey the constraints"):
        m.forward_dynamics(q[1] + np.array([0.5, 0.0, 0.0]), qd[1], tau[1])


def test_results_and_wrenches_are_held_by_nobody_else():
    m, s = mechanism("stanford-arm"), zoo.motions(mechanism("stanford-arm"), 40)
    w = np.arange(6.0)
    wrenches = {m.frames[-1]: w}
    for batch in (1, slice(None)):
        state = s.q[batch], s.qd[batch], s.qdd[batch]
        for _ in range(3):
            m.inverse_dynamics(*state, external=wrenches)
            poses = m.poses(state[0])
        before = sys.getrefcount(w)
        for _ in range(50):
            m.inverse_dynamics(*state, external=wrenches)
            poses = m.poses(state[0])
        assert sys.getrefcount(w) == before
        pose = next(iter(poses.values()))
        references = sys.getrefcount(pose.position)
        kept_for_later = 1 if batch == 1 else 0
        assert references == 2 + kept_for_later  # the pose's, and that of the call here
    gc.collect()


def addresses(results):
    return [x.ctypes.data for x in results]


def states_of(m, count, rows):
    """States as arguments: single ones, or batches with so many rows."""
    s = zoo.motions(m, count * (rows or 1))
    shape = (count, rows) if rows else (count,)
    return [tuple(x.reshape(*shape, -1)[k] for x in (s.q, s.qd, s.qdd)) for k in range(count)]


@pytest.mark.parametrize("rows", [0, 5], ids=["one state", "batch"])
def test_an_array_comes_again_when_nobody_holds_it(rows):
    m = longer_way("stanford-arm")
    states = states_of(m, 12, rows)
    m.inverse_dynamics(*states[0])
    places = set()
    for state in states:
        tau = m.inverse_dynamics(*state)  # the one before is held until this one has its name
        places |= set(addresses([tau]))
    assert len(places) == 2
    kept = [m.inverse_dynamics(*state) for state in states]
    assert len(set(addresses(kept))) == len(kept)
    assert all(np.array_equal(a, m.inverse_dynamics(*state)) for a, state in zip(kept, states, strict=True))


HOLD = {
    "a view": lambda x: x[1:],
    "a transpose": lambda x: x.T,
    "a buffer": memoryview,
    "a container": lambda x: {"tau": [x]},
    "an iterator": lambda x: x.flat,
    "its interface": lambda x: np.asarray(SimpleNamespace(__array_interface__=x.__array_interface__, of=x)),
}


@pytest.mark.parametrize("rows", [0, 5], ids=["one state", "batch"])
@pytest.mark.parametrize("hold", HOLD)
def test_what_is_held_in_any_way_is_not_written_again(hold, rows):
    m = longer_way("stanford-arm")
    states = states_of(m, 8, rows)
    m.inverse_dynamics(*states[0])
    first = m.inverse_dynamics(*states[0])
    expected, place, held = first.copy(), first.ctypes.data, HOLD[hold](first)
    del first
    for state in states[1:]:
        assert m.inverse_dynamics(*state).ctypes.data != place
    now = np.frombuffer((ctypes.c_double * expected.size).from_address(place))
    assert np.array_equal(now, expected.ravel())
    del held


def made_read_only(x):
    x.flags.writeable = False


def made_a_matrix(x):
    x.shape = (2, 3)


def made_whole_numbers(x):
    x.dtype = np.int64


def made_longer(x):
    x.resize(12, refcheck=False)


@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype):DeprecationWarning")
@pytest.mark.parametrize("change", [made_read_only, made_a_matrix, made_whole_numbers, made_longer])
def test_an_array_that_was_changed_does_not_come_again(change):
    m, s = longer_way("stanford-arm"), zoo.motions(mechanism("stanford-arm"), 1)
    state = s.q[0], s.qd[0], s.qdd[0]
    expected = m.inverse_dynamics(*state)
    for _ in range(4):
        tau = m.inverse_dynamics(*state)
        assert type(tau) is np.ndarray
        assert (tau.shape, tau.dtype, tau.flags.writeable) == ((m.nv,), np.dtype(float), True)
        assert np.array_equal(tau, expected)
        change(tau)
        del tau


def test_who_watches_an_array_sees_it_go():
    m, s = longer_way("stanford-arm"), zoo.motions(mechanism("stanford-arm"), 1)
    state, gone = (s.q[0], s.qd[0], s.qdd[0]), []
    m.inverse_dynamics(*state)
    weakref.finalize(m.inverse_dynamics(*state), gone.append, True)
    for _ in range(2):
        held = [m.inverse_dynamics(*state) for _ in range(2)]
    assert gone == [True]
    del held


def test_arrays_kept_for_later_go_with_the_mechanism():
    m, s = longer_way("stanford-arm"), zoo.motions(mechanism("stanford-arm"), 1)
    state, gone = (s.q[0], s.qd[0], s.qdd[0]), []
    m.inverse_dynamics(*state)
    weakref.finalize(m.inverse_dynamics(*state), gone.append, True)
    del m
    gc.collect()
    assert gone == [True]


def test_a_huge_result_is_not_kept():
    m, s = longer_way("stanford-arm"), zoo.motion(mechanism("stanford-arm"), 0)
    small, huge = np.tile(s.q, (2, 1)), np.tile(s.q, (MOST_KEPT // m.nv + 1, 1))
    held = []
    for q in (small, small, huge):
        tau = m.inverse_dynamics(q, s.qd, s.qdd)
        held.append(sys.getrefcount(tau))
    assert held[1] == held[2] + 1  # that of the table


@pytest.mark.parametrize("rows", [0, 5], ids=["one state", "batch"])
def test_threads_never_get_an_array_that_another_one_holds(rows):
    m = longer_way("stanford-arm")
    states = states_of(m, 16, rows)
    expected = [m.inverse_dynamics(*state).copy() for state in states]

    def right(k: int) -> bool:
        state, before = states[k], m.inverse_dynamics(*states[k])
        for _ in range(300):
            tau = m.inverse_dynamics(*state)
            if not np.array_equal(before, tau):
                return False
            before = tau
        return zoo.relative_error(before, expected[k]) < 1e-12

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(right, range(16)))
    finally:
        sys.setswitchinterval(interval)


def test_a_mechanism_with_thin_calls_can_be_pickled():
    m, s = mechanism("stanford-arm"), zoo.motions(mechanism("stanford-arm"), 1)
    for _ in range(2):
        expected = m.pose(s.q[0], m.frames[-1])
    other = pickle.loads(pickle.dumps(m))
    assert np.array_equal(other.pose(s.q[0], m.frames[-1]).position, expected.position)
    assert pickle.loads(pickle.dumps(m.inverse_dynamics))(s.q[0], s.qd[0], s.qdd[0]).shape == (m.nv,)
