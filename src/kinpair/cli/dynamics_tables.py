"""The answers of `kinpair dynamics` as tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.cli.screen import Screen, matrix_tables, number_table, texts

WRENCH: tuple[str, ...] = ("nx", "ny", "nz", "fx", "fy", "fz")
TWIST: tuple[str, ...] = ("ωx", "ωy", "ωz", "vx", "vy", "vz")
AXES: tuple[str, ...] = ("x", "y", "z")
PASSIVE = {True: "", False: "; springs, dampers and friction left out"}


def show(found: dict[str, Any], file: str) -> None:
    """Print every quantity, the vectors first."""
    screen = Screen()
    screen.heading(found["name"])
    screen.say(f"SI units: N m or N, rad or m, J{PASSIVE[found['passive']]}")
    screen.say()
    for part in (_coordinates, _inverse, _forward, _totals, _matrices, _reactions, _frames):
        part(screen, found)
    if found["warnings"]:
        count = len(found["warnings"])
        screen.say(f"{count} warning{'s' * (count > 1)} about the description: kinpair info {file}")


def _title(found: dict[str, Any], key: str, text: str) -> str:
    return f"{text} ({found['methods'][key]})"


def _coordinates(screen: Screen, found: dict[str, Any]) -> None:
    screen.print(number_table("coordinate", found["q_names"], {"q": found["state"]["q"]}, screen.width))
    screen.say()


def _inverse(screen: Screen, found: dict[str, Any]) -> None:
    screen.heading(_title(found, "inverse_dynamics", "Inverse dynamics: tau = H qdd + bias"))
    columns = {
        "qd": found["state"]["qd"],
        "qdd": found["state"]["qdd"],
        "tau": found["inverse_dynamics"],
        "bias": found["bias_forces"],
        "gravity": found["gravity_forces"],
    }
    screen.print(number_table("rate", found["v_names"], columns, screen.width))
    screen.say()


def _forward(screen: Screen, found: dict[str, Any]) -> None:
    screen.heading(_title(found, "forward_dynamics", "Forward dynamics: qdd for the given tau"))
    if found["forward_dynamics"] is None:
        screen.say(f"none: {found['reasons']['forward_dynamics']}")
    else:
        columns = {"tau": found["state"]["tau"], "qdd": found["forward_dynamics"]}
        screen.print(number_table("rate", found["v_names"], columns, screen.width))
    screen.say()


def _totals(screen: Screen, found: dict[str, Any]) -> None:
    kinetic, potential = found["energy"].values()
    screen.heading("Energy [J] and centre of mass [m]")
    screen.say(f"kinetic {kinetic:.6g}, potential {potential:.6g}, total {kinetic + potential:.6g}")
    if found["centre_of_mass"] is None:
        screen.say(f"none: {found['reasons']['centre_of_mass']}")
    else:
        screen.say(f"centre of mass {' '.join(texts(found['centre_of_mass']))}")
    screen.say()


def _matrices(screen: Screen, found: dict[str, Any]) -> None:
    for key, text in (("mass_matrix", "Mass matrix H"), ("coriolis_matrix", "Coriolis matrix C")):
        screen.heading(_title(found, key, text))
        for part in matrix_tables(found["v_names"], found[key], screen.width):
            screen.print(part)
        screen.say()


def _reactions(screen: Screen, found: dict[str, Any]) -> None:
    screen.heading(
        _title(found, "reactions", "Reactions on the child, at the joint, in the parent's joint axes")
    )
    values = np.reshape(list(found["reactions"].values()), (-1, 6))
    columns = dict(zip(WRENCH, values.T, strict=True))
    screen.print(number_table("joint", tuple(found["reactions"]), columns, screen.width))
    screen.say()


def _frames(screen: Screen, found: dict[str, Any]) -> None:
    for name, frame in found["frames"].items():
        screen.heading(f"Frame {name}: position and rotation in the world")
        columns = {"position": frame["position"], **dict(zip(AXES, frame["rotation"].T, strict=True))}
        screen.print(number_table("", AXES, columns, screen.width))
        screen.say()
        screen.heading(f"Frame {name}: Jacobian, a row a rate, world axes")
        columns = dict(zip(TWIST, frame["jacobian"], strict=True))
        screen.print(number_table("rate", found["v_names"], columns, screen.width))
        screen.say()
