"""Scalar operations of the recursions, beside the counts published for six-revolute arms."""

from __future__ import annotations

from benchmarks.chains import dh_chain
from benchmarks.counting import Tally, count
from kinpair.formulations import articulated, denoc, newton_euler
from kinpair.formulations.kinematics import no_wrenches
from kinpair.model.model import Model

SIZES = (5, 6, 10, 20, 40)
# (a, b): a n + b multiplications, a n + b additions; quoted from the papers named
PUBLISHED = {
    "inverse dynamics": (
        ("Hollerbach 1980", (412, -277), (320, -201)),
        ("Luh, Walker, Paul 1980", (150, -48), (131, -48)),
        ("Walker, Orin 1982", (137, -22), (101, -11)),
        ("Saha 1999 (DeNOC)", (120, -44), (97, -55)),
        ("Khalil et al. 1986", (105, -92), (94, -86)),
        ("Angeles, Ma, Rojas 1989", (105, -109), (90, -105)),
        ("Balafoutis et al. 1988", (93, -69), (81, -65)),
    ),
    "forward dynamics": (
        ("Saha 1999, O(n)", (191, -284), (187, -325)),
        ("Featherstone 1983, O(n)", (199, -198), (174, -173)),
        ("Valášek 1996, O(n)", (226, -343), (206, -345)),
        ("Brandl, Johanni, Otter 1986, O(n)", (250, -222), (220, -198)),
    ),
}


def inverse(model: Model, formulation: object = newton_euler) -> Tally:
    """Operations of one inverse dynamics."""
    f = formulation.inverse_dynamics  # type: ignore[attr-defined]
    return count(lambda q, qd, qdd: f(model, q, qd, qdd, no_wrenches(model)), model.nq, model.nv, model.nv)


def forward(model: Model, formulation: object = denoc) -> Tally:
    """Operations of one forward dynamics."""
    f = formulation.forward_dynamics  # type: ignore[attr-defined]
    return count(lambda q, qd, tau: f(model, q, qd, tau, no_wrenches(model)), model.nq, model.nv, model.nv)


OURS = {
    "inverse dynamics": (
        ("kinpair newton-euler", lambda m: inverse(m, newton_euler)),
        ("kinpair denoc", lambda m: inverse(m, denoc)),
    ),
    "forward dynamics": (
        ("kinpair articulated bodies, O(n)", lambda m: forward(m, articulated)),
        ("kinpair denoc, O(n)", lambda m: forward(m, denoc)),
    ),
}


def rows(sizes: tuple[int, ...] = SIZES) -> list[tuple[str, str, list[tuple[int, int]]]]:
    """(quantity, who, [(multiplications, additions) for each n]); divisions count as multiplications."""
    models = {n: dh_chain(n).model for n in sizes}
    table: list[tuple[str, str, list[tuple[int, int]]]] = []
    for quantity, ours in OURS.items():
        for who, f in ours:
            tallies = [f(models[n]) for n in sizes]
            table.append((quantity, who, [(t["mul"] + t["div"], t["add"]) for t in tallies]))
        for who, (m, m0), (a, a0) in PUBLISHED[quantity]:
            table.append((quantity, f"{who} (quoted)", [(m * n + m0, a * n + a0) for n in sizes]))
    return table
