"""Messages of formulation(...).arrays, solver(...).arrays and of own symbols in equations, word for word."""

from __future__ import annotations

from functools import cache

import pytest

import kinpair as kp
from kinpair.cli.main import main


@cache
def arm() -> kp.Mechanism:
    return kp.example("planar-3r").reference


@cache
def four_bar() -> kp.Mechanism:
    return kp.example("four-bar").reference


Q3, QD3 = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
NAMES = (
    "newton-euler, denoc, lagrange, lagrange/cylinders, lagrange/euler, lagrange/links, uicker, popov, popov/euler, "
    "appell, kane, roberson-wittenburg, roberson-wittenburg/augmented, screw, zhao-gu"
)
SOLVERS = (
    "rosenberg, multipliers, udwadia-kalaba, rosenberg-extended, maggi, partition, voronets, chaplygin, screw, "
    "zhao-gu"
)
SEQUENCES = "auto, zxz, xyx, yzy, zyz, xzx, yxy, xyz, yzx, zxy, xzy, yxz, zyx"
SYMBOLS = "m_1, m_2, I_1, I_2, g, l_1, r_1, r_2, q_1, q_2"


def arrays(name, *state, m=None, **options):
    return kp.formulation(name).arrays(m or arm(), *(state or (Q3, QD3)), **options)


def symbols(x):
    return kp.equations(kp.example("double-pendulum"), passive=False, symbols=x)


CASES = {
    "name": (
        lambda: kp.formulation("denok"),
        f"no formulation 'denok'; did you mean 'denoc'? Formulations: {NAMES}",
    ),
    "no name": (lambda: kp.formulation(3), f"no formulation 3; formulations: {NAMES}"),
    "solver": (lambda: kp.solver("maggy"), f"no solver 'maggy'; did you mean 'maggi'? Solvers: {SOLVERS}"),
    "closed": (
        lambda: arrays("denoc", four_bar().start(), [0, 0, 0], m=four_bar()),
        "four-bar: 'denoc' takes trees only: N_l of the source is the complement of a serial chain, or of a tree. "
        "m.without_constraints() is the spanning tree; 'screw' takes closed mechanisms",
    ),
    "both": (
        lambda: arrays("denoc", qdd=QD3, tau=QD3),
        "planar-3r: give qdd or tau, not both: each follows from the other",
    ),
    "batch": (
        lambda: arrays("denoc", [Q3, Q3], QD3),
        "planar-3r: q has shape (2, 3); arrays() takes one state, not a batch",
    ),
    "option": (
        lambda: arrays("screw", grounds=True),
        "arrays of 'screw' has no option 'grounds'; did you mean 'ground'? Options: ground, drives",
    ),
    "no option": (
        lambda: arrays("denoc", ground=True),
        "arrays of 'denoc' has no option 'ground'; it has none",
    ),
    "drive": (
        lambda: arrays("screw", drives=("joint9",)),
        "planar-3r: drives has 'joint9'; did you mean 'joint3'? Joints: joint1, joint2, joint3",
    ),
    "closed motion": (
        lambda: arrays("screw", four_bar().start(), [0, 0, 0], [0, 0, 0], m=four_bar()),
        "four-bar: efforts of a closed mechanism do not follow from qdd alone; give tau=, or the efforts of "
        "m.inverse_dynamics(q, qd, qdd, actuators=...)",
    ),
    "other constraint": (
        lambda: arrays("screw", kp.example("gripper").start(), [0] * 6, m=kp.example("gripper").reference),
        "gripper: C of 'screw' has columns of joints only, not of other constraints: 'gears'. "
        "kinpair.solver('multipliers').arrays takes every constraint",
    ),
    "no constraints": (
        lambda: kp.solver("maggi").arrays(arm(), Q3, QD3),
        "planar-3r: no constraints, so there is nothing for solver 'maggi' to solve",
    ),
    "dependent": (
        lambda: kp.solver("maggi").arrays(four_bar(), four_bar().start(), [0, 0, 0], dependent=["crank"]),
        "four-bar: dependent has 1 rates; the 2 independent rows determine 2",
    ),
    "block": (
        lambda: arrays("denoc").block("N_l", 4, 1),
        "N_l has no block 4; give a number from 1 to 3 or a name: link1, link2, link3",
    ),
    "not blocks": (
        lambda: arrays("zhao-gu").block("J_T", 1),
        "planar-3r: J_T of 'zhao-gu' is not made of blocks",
    ),
    "one column": (
        lambda: arrays("denoc").block("t", 1, 1),
        "planar-3r: t of 'denoc' has one column of blocks; give no column",
    ),
    "later": (
        lambda: arrays("denoc").symbol("w_E"),
        "planar-3r: w_E of 'denoc' depends on accelerations; give qdd= or tau= to arrays()",
    ),
    "symbol": (
        lambda: arrays("newton-euler").symbol("omega_"),
        "planar-3r: 'newton-euler' has no symbol 'omega_'; did you mean 'omega'? Symbols: R, r, omega",
    ),
    "sequence": (
        lambda: arrays("popov/euler", sequence="zxy2"),
        f"planar-3r: sequence is 'zxy2'; did you mean 'zxy'? Sequences: {SEQUENCES}",
    ),
    "offset": (
        lambda: arrays("popov/euler", offset=[1, 2]),
        "planar-3r: offset is [1, 2]; give a rotation matrix (3, 3), or 'auto'",
    ),
    "link": (
        lambda: arrays("lagrange/links", sequence={"link9": "xyz"}),
        "planar-3r: sequence names link 'link9'; did you mean 'link3'? Links: link1, link2, link3",
    ),
    "compile": (
        lambda: kp.formulation("denoc").compile(arm(), Q3),
        "compile is for Euler angles, popov/euler, lagrange/links, lagrange/euler; m.kernel(quantity, method=...) "
        "compiles the others",
    ),
    "quantity": (
        lambda: kp.formulation("popov/euler").compile(arm(), Q3, "mass_matrix"),
        "quantity is 'mass_matrix'; give one of inverse_dynamics, forward_dynamics",
    ),
    "closed efforts": (
        lambda: kp.formulation("popov").inverse_dynamics(
            four_bar(), four_bar().start(), [0, 0, 0], [0, 0, 0]
        ),
        "four-bar: this call takes trees; m.inverse_dynamics and m.forward_dynamics take closed mechanisms, "
        "m.without_constraints() is the spanning tree",
    ),
    "own symbol": (
        lambda: symbols({"m_3": "M"}),
        "double-pendulum: symbols has 'm_3', which is not in these equations; did you mean 'm_2'? "
        f"Symbols: {SYMBOLS}",
    ),
    "taken": (
        lambda: symbols({"m_1": "m_2"}),
        "double-pendulum: symbols gives 'm2' to mass of 'lower' [kg], and mass of 'upper' [kg] has it; choose another",
    ),
    "wave": (
        lambda: symbols({"m_1": "c1"}),
        "double-pendulum: symbols gives 'c1' to mass of 'upper' [kg], and a cosine or sine has it; choose another",
    ),
    "no symbol": (
        lambda: symbols({"m_1": "3x"}),
        "double-pendulum: symbols has '3x' for 'm_1'; give a symbol and an index after an underscore, 'M' or 'phi_1'",
    ),
    "significance of terms": (
        lambda: kp.equations(kp.example("floating-arm"), passive=False).significance([[0.0]], [[0.0]]),
        "floating-arm: significance needs the closed form of every entry; here is in named terms (q̇ is not the "
        "derivative of q where there are quaternions: the equations are in body rates). kinpair.equations(m, "
        "form='closed') gives it where it exists",
    ),
    "states": (
        lambda: symbols({}).significance([[0.0]], [[0.0, 0.0]]),
        "double-pendulum: q has shape (1, 1); give (states, 2)",
    ),
    "numbers of states": (
        lambda: symbols({}).significance([[0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]),
        "double-pendulum: the numbers of states differ: 1 of q, 2 of qd, 2 of qdd",
    ),
    "tolerance": (
        lambda: symbols({}).significance([[0.1, 0.2]], [[0.0, 0.0]]).simplified(2),
        "tolerance is 2; give a number from 0 to 1",
    ),
    "no mapping": (
        lambda: symbols("m"),
        "double-pendulum: symbols is 'm'; give names with names, {'m_1': 'M'}",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case):
    call, message = CASES[case]
    with pytest.raises(kp.InputError) as caught:
        call()
    assert str(caught.value) == message


COMMANDS = {
    "explain scara --qdd 0,0,0,0 --tau 0,0,0,0": "--qdd and --tau are both given; give one, the other is "
    "computed",
    "explain four-bar --qdd 0,0,0": "--qdd: accelerations do not determine the efforts of the closed "
    "mechanism four-bar; give --tau",
    "explain scara --method popof": f"no formulation 'popof'; did you mean 'popov'? Formulations: {NAMES}",
}


@pytest.mark.parametrize("words", COMMANDS)
def test_bad_commands_are_refused_in_one_line(capsys, words):
    assert main(words.split()) == 2
    assert capsys.readouterr().err == f"kinpair: {COMMANDS[words]}\n"


def test_an_unknown_symbol_is_an_attribute_error():
    with pytest.raises(AttributeError, match="did you mean 'omega'"):
        _ = arrays("newton-euler").omegas


def test_too_many_drives_leave_no_solution():
    m = four_bar()
    with pytest.raises(kp.SingularError) as caught:
        kp.formulation("screw").arrays(m, m.start(), [0, 0, 0], tau=[0, 0, 0], drives=m.joint_names[:3])
    assert str(caught.value) == (
        "four-bar: the columns of C depend on each other; leave out drives of joints that the others move"
    )
