"""`kinpair explain`: what a formulation computes in one state, step by step."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

import kinpair
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Numbers, Root, Snap
from kinpair.cli.dynamics import state_of


def explain(
    file: Described,
    /,
    *,
    method: Annotated[str, Parameter(metavar="NAME")] = "popov",
    q: Numbers = None,
    qd: Numbers = None,
    qdd: Numbers = None,
    tau: Numbers = None,
    latex: Flag = False,
    base: Root = "fixed",
    snap: Snap = 0.0,
) -> None:
    """Print the intermediate results of a formulation in one state, with equation numbers.

    The method popov prints the algorithm KINPAIR pair by pair, up to the equations of motion. Other formulations
    print their symbols with equation numbers, shapes and meanings; --latex adds the values.

    Parameters
    ----------
    method
        Formulation or variant, such as popov, denoc, screw or lagrange/cylinders.
    q
        Coordinates. Default: zeros and unit quaternions; under constraints, the assembled start of the description.
    qd
        Rates. Default: zeros.
    qdd
        Accelerations; efforts are computed from them. Trees only.
    tau
        Efforts; accelerations are computed from them. Default: zeros.
    latex
        Print symbols and values in LaTeX.
    """
    named = kinpair.formulation(method)
    mechanism = arguments.mechanism(file, base=base, snap=snap)
    if qdd is not None and tau is not None:
        raise kinpair.InputError(
            "--qdd and --tau are both given; give one, the other is computed", options=["--qdd", "--tau"]
        )
    if qdd is not None and mechanism.closure is not None:
        raise kinpair.InputError(
            f"--qdd: accelerations do not determine the efforts of the closed mechanism {mechanism.name}; "
            "give --tau",
            option="--qdd",
        )
    state, _ = state_of(mechanism, {"q": q, "qd": qd, "qdd": qdd, "tau": tau}, 0.0)
    known = {"qdd": state.qdd} if qdd is not None else {"tau": state.tau}
    if latex:
        print(named.arrays(mechanism, state.q, state.qd, **known).latex())
    else:
        print(named.explain(mechanism, state.q, state.qd, **known))
