"""Every formulation on every bundled tree and on twenty real robots, one state after the other, without the compiler.

Relative error: max|Δ| / max(1, max|reference|) ≤ 1e-9, and ≤ 1e-6 in states where cond(H) > 1e8. Efforts, H and h are
judged by the default formulation, which other tests compare with other engines; accelerations by those that the
efforts were made from; C by the efforts of motion that nothing weighs in. A new row of METHODS takes part by itself.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import kinpair as kp
import zoo
from families import ALIKE, LARGE_EXAMPLES, family
from kinpair.analysis.measuring import skewness
from kinpair.evaluation.quantities.request import METHODS
from kinpair.formulations.limits import MANY, refusal
from robots import urdf_files

USUAL, ILL, ILL_CONDITIONED = 1e-9, 1e-6, 1e8
BUNDLED = list(kp.examples(systems=False))
ROBOTS = {  # those with names of their own, arms, hands, legs and whole bodies
    "double_pendulum/double_pendulum": "fixed",
    "finger_edu/finger_edu": "fixed",
    "ur/ur5_robot": "fixed",
    "kinova/kinova": "fixed",
    "so_arm/so101": "fixed",
    "xarm/xarm7": "fixed",
    "z1/z1": "fixed",
    "panda/panda": "fixed",
    "tiago/tiago_no_hand": "fixed",
    "allegro_hand/allegro_left_hand": "fixed",
    "baxter/baxter": "fixed",
    "pr2/pr2": "fixed",
    "hextilt/hextilt_flying_arm_5": "free",
    "bolt/bolt": "free",
    "solo/solo12": "free",
    "anymal_b_simple/anymal-kinova": "free",
    "go2/go2": "free",
    "icub/icub": "free",
    "g1/g1_29dof_rev_1_0": "free",
    "talos_data/talos_reduced": "free",
}
LARGE_ROBOTS = {
    "talos_data/talos_reduced",
    "pr2/pr2",
    "anymal_b_simple/anymal-kinova",
    "baxter/baxter",
    "tiago/tiago_no_hand",
}
ARMS = ("scara", "stanford-arm", "kr5", "ur/ur5_robot", "xarm/xarm7", "panda/panda")
EMPTY = 370  # operations that take as long to compile as a kernel without any
STATES, FEW, LARGE = 3, 2, 20  # states of a mechanism, of one with more rates than LARGE


@dataclass(frozen=True, eq=False)
class Case:
    """A tree in a few states, and what is allowed in each."""

    tree: kp.Mechanism
    s: zoo.Motion
    tau: np.ndarray
    allowed: np.ndarray

    def methods(self, quantity: str) -> list[str]:
        """Those that apply."""
        return [way for way in METHODS[quantity] if not refusal(self.tree.model, quantity, way)]


@cache
def case(name: str) -> Case:
    tree = loaded(name).without_constraints().reference
    s = zoo.motions(tree, FEW if tree.nv > LARGE else STATES, seed=len(name))
    ill = np.linalg.cond(tree.mass_matrix(s.q)) > ILL_CONDITIONED
    return Case(tree, s, tree.inverse_dynamics(s.q, s.qd, s.qdd), np.where(ill, ILL, USUAL))


def loaded(name: str) -> kp.Mechanism:
    if name not in ROBOTS:
        return kp.example(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf_files()[name], base=ROBOTS[name], constraints=False)


def relative_errors(found: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """One a state."""
    return np.array([zoo.relative_error(*pair) for pair in zip(found, reference, strict=True)])


every_tree = pytest.mark.parametrize(
    "name",
    [
        *family(BUNDLED, set(BUNDLED) - LARGE_EXAMPLES, ALIKE),
        *family(ROBOTS, set(ROBOTS) - LARGE_ROBOTS, "large robots beside two humanoids"),
    ],
)


def disagreeing(name: str, quantity: str, reference: np.ndarray, *state: np.ndarray) -> dict[str, np.ndarray]:
    """Formulations whose result is too far from the reference, with their errors by state."""
    x = case(name)
    errors = {
        way: relative_errors(getattr(x.tree, quantity)(*state, method=way), reference)
        for way in x.methods(quantity)
    }
    return {way: result for way, result in errors.items() if not (result <= x.allowed).all()}


def test_what_takes_part():
    assert len(ROBOTS) == 20
    assert len(BUNDLED) >= 23
    sizes = {name: case(name).tree.nv for name in ROBOTS}
    assert min(sizes.values()) == 2
    assert max(sizes.values()) <= 40
    assert [name for name in sizes if case(name).allowed.max() > USUAL] == ["icub/icub"]
    for name in (*BUNDLED, *ROBOTS):
        for quantity, ways in METHODS.items():
            left_out = set(ways) - set(case(name).methods(quantity))
            assert left_out <= {"uicker"} | ({"lagrange"} if quantity == "coriolis_matrix" else set())
    by_uicker = [name for name in (*BUNDLED, *ROBOTS) if "uicker" in case(name).methods("mass_matrix")]
    assert len(by_uicker) >= 25
    assert max(case(name).tree.nv for name in by_uicker) == MANY


@every_tree
def test_inverse_dynamics(name):
    x = case(name)
    assert not disagreeing(name, "inverse_dynamics", x.tau, x.s.q, x.s.qd, x.s.qdd)


@every_tree
def test_forward_dynamics(name):
    x = case(name)
    assert not disagreeing(name, "forward_dynamics", x.s.qdd, x.s.q, x.s.qd, x.tau)


@every_tree
def test_mass_matrix(name):
    x = case(name)
    assert not disagreeing(name, "mass_matrix", x.tree.mass_matrix(x.s.q), x.s.q)


@every_tree
def test_bias_forces(name):
    x = case(name)
    assert not disagreeing(name, "bias_forces", x.tree.bias_forces(x.s.q, x.s.qd), x.s.q, x.s.qd)


@every_tree
def test_coriolis_matrix(name):
    """C q̇ = h without gravity, springs and dampers, and Ḣ − 2C is skew."""
    x = case(name)
    q, qd = x.s.q, x.s.qd
    convective = zoo.without_gravity(x.tree).bias_forces(q, qd, passive=False)
    for way in x.methods("coriolis_matrix"):
        C = x.tree.coriolis_matrix(q, qd, method=way)
        assert (relative_errors(np.einsum("skl,sl->sk", C, qd), convective) <= USUAL).all(), way
        assert skewness(x.tree.model, C, {"q": q, "qd": qd}) <= USUAL, way


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_formulas_of_arms_stay_short(name, quantity):
    """Compile time is linear in the operations and starts at that of some 370: at most five times the default's."""
    arm = loaded(name)
    counts = {way: EMPTY + arm.kernel(quantity, method=way).count["total"] for way in METHODS[quantity]}
    least = next(iter(counts.values()))
    assert not {way: count for way, count in counts.items() if count > 5 * least}
