"""The answers of `kinpair dynamics` as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.table import Table

from kinpair.cli import records
from kinpair.cli.screen import Screen
from kinpair.cli.tables import matrix_tables, number_table, texts
from kinpair.errors import listed

WRENCH: tuple[str, ...] = ("nx", "ny", "nz", "fx", "fy", "fz")
TWIST: tuple[str, ...] = ("ωx", "ωy", "ωz", "vx", "vy", "vz")
AXES: tuple[str, ...] = ("x", "y", "z")
PASSIVE = {True: "", False: "; springs, dampers and friction left out"}


def show(results: dict[str, Any], file: str) -> None:
    """Print every quantity, the vectors first."""
    screen = Screen()
    screen.heading(results["name"])
    screen.say(f"SI units: N m or N, rad or m, J{PASSIVE[results['passive']]}")
    for note in results["notes"]:
        screen.say(note)
    screen.say()
    for part in (
        _coordinates,
        _inverse,
        _forward,
        _constraint_forces,
        _totals,
        _matrices,
        _reactions,
        _frames,
    ):
        part(screen, results)
    if results["warnings"]:
        count = len(results["warnings"])
        screen.say(f"{count} warning{'s' * (count > 1)} about the description: kinpair info {file}")


def _title(results: dict[str, Any], key: str, text: str) -> str:
    return f"{text} ({results['methods'][key]})"


def _lacks(screen: Screen, results: dict[str, Any], key: str) -> bool:
    """Is there none of it? Then the reason is said."""
    if results[key] is None:
        screen.say(f"none: {results['reasons'][key]}")
    return results[key] is None


def _coordinates(screen: Screen, results: dict[str, Any]) -> None:
    screen.print(number_table("coordinate", results["q_names"], {"q": results["state"]["q"]}, screen.width))
    screen.say()
    if results["constraints"]:
        for line in records.sentences(results["mobility"]):
            screen.say(line)
        screen.say()


def _inverse(screen: Screen, results: dict[str, Any]) -> None:
    law, acting = "tau", ""
    if results["constraints"]:
        who = "the actuated joints" if results["actuators"] is None else listed(results["actuators"])
        law, acting = "tau + Aᵀ lambda", f", the least efforts of {who}"
    screen.heading(_title(results, "inverse_dynamics", f"Inverse dynamics{acting}: {law} = H qdd + bias"))
    tau = {} if _lacks(screen, results, "inverse_dynamics") else {"tau": results["inverse_dynamics"]}
    columns = {
        "qd": results["state"]["qd"],
        "qdd": results["state"]["qdd"],
        **tau,
        "bias": results["bias_forces"],
        "gravity": results["gravity_forces"],
    }
    screen.print(number_table("rate", results["v_names"], columns, screen.width))
    screen.say()


def _forward(screen: Screen, results: dict[str, Any]) -> None:
    ways = ", ".join(filter(None, (results["methods"]["forward_dynamics"], results["solver"])))
    screen.heading(f"Forward dynamics: qdd for the given tau ({ways})")
    if not _lacks(screen, results, "forward_dynamics"):
        columns = {"tau": results["state"]["tau"], "qdd": results["forward_dynamics"]}
        screen.print(number_table("rate", results["v_names"], columns, screen.width))
    screen.say()


def _constraint_forces(screen: Screen, results: dict[str, Any]) -> None:
    """Multipliers and wrenches of the constraints."""
    if not results["constraints"]:
        return
    screen.heading("Constraints while the given tau acts: a multiplier a row")
    if not _lacks(screen, results, "constraint_forces"):
        forces = results["constraint_forces"]
        multipliers = forces["multipliers"]
        screen.print(
            number_table("row", tuple(multipliers), {"lambda": [*multipliers.values()]}, screen.width)
        )
        screen.say()
        if forces["wrenches"]:
            screen.heading("Their wrenches on the child, at its mark, world axes")
            screen.print(_wrench_table("constraint", forces["wrenches"], screen.width))
        if not forces["unique"]:
            screen.say("not unique: redundant rows share the load; these are the least-norm ones")
    screen.say()


def _totals(screen: Screen, results: dict[str, Any]) -> None:
    kinetic, potential = results["energy"].values()
    screen.heading("Energy [J] and centre of mass [m]")
    screen.say(f"kinetic {kinetic:.6g}, potential {potential:.6g}, total {kinetic + potential:.6g}")
    if not _lacks(screen, results, "centre_of_mass"):
        screen.say(f"centre of mass {' '.join(texts(results['centre_of_mass']))}")
    screen.say()


def _matrices(screen: Screen, results: dict[str, Any]) -> None:
    tree = " without constraints" if results["constraints"] else ""
    for key, text in (("mass_matrix", "Mass matrix H"), ("coriolis_matrix", "Coriolis matrix C")):
        screen.heading(_title(results, key, text + tree))
        for part in matrix_tables(results["v_names"], results[key], screen.width):
            screen.print(part)
        screen.say()


def _reactions(screen: Screen, results: dict[str, Any]) -> None:
    screen.heading(
        _title(results, "reactions", "Reactions on the child, at the joint, in the parent's joint axes")
    )
    if not _lacks(screen, results, "reactions"):
        screen.print(_wrench_table("joint", results["reactions"], screen.width))
    screen.say()


def _wrench_table(first: str, wrenches: Mapping[str, np.ndarray], width: int) -> Table:
    values = np.reshape(list(wrenches.values()), (-1, 6))
    return number_table(first, tuple(wrenches), dict(zip(WRENCH, values.T, strict=True)), width)


def _frames(screen: Screen, results: dict[str, Any]) -> None:
    for name, frame in results["frames"].items():
        screen.heading(f"Frame {name}: position and rotation in the world")
        columns = {"position": frame["position"], **dict(zip(AXES, frame["rotation"].T, strict=True))}
        screen.print(number_table("", AXES, columns, screen.width))
        screen.say()
        screen.heading(f"Frame {name}: Jacobian, a row a rate, world axes")
        columns = dict(zip(TWIST, frame["jacobian"], strict=True))
        screen.print(number_table("rate", results["v_names"], columns, screen.width))
        screen.say()
