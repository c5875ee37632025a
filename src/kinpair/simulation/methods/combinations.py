"""Which integrator takes what: the one table of what is rejected, with its sentences. `docs/events.md` shows it.

events   functions of a user that are watched
limits   limits="stop": an impact without rebound, then a closed limit
impact   limits="bounce": restitution, with friction of surfaces under load in the impact
level    dry friction of constant level
load     friction from load
"""

from __future__ import annotations

from collections.abc import Iterable

from kinpair.errors import InputError

FEATURES = ("events", "limits", "impact", "level", "load")
UNCUT = (  # it carries accelerations from step to step
    "takes no events and no limits that stop or bounce; 'rk4', 'dop853' and the other explicit ones do"
)
UNLOADED = (  # its own equations have no loads of joints
    "does not take friction from load; 'dop853', 'rk4' and 'cvode' do, passive=False (--no-passive) leaves friction out"
)
REJECTED: dict[str, dict[str, str]] = {
    "rk4": {},
    "dopri5": {},
    "dop853": {},
    "semi-implicit-euler": {},
    "implicit-midpoint": {},
    "variational": {"load": UNLOADED},
    "generalised-alpha": {"events": UNCUT, "limits": UNCUT, "impact": UNCUT, "load": UNLOADED},
    "time-stepping": {"load": UNLOADED},
    "cvode": {},
    "ida": {"load": UNLOADED},
    "taylor": {},
}
PARTLY = {("taylor", "load"): "without kinks"}  # others are rejected by the solver, which names the kink


def check_combination(name: str, integrator: str, features: Iterable[str]) -> None:
    """Reject features of a run of the mechanism `name` that its integrator does not take."""
    for feature in features:
        sentence = REJECTED[integrator].get(feature)
        if sentence is not None:
            raise InputError(f"{name}: integrator {integrator!r} {sentence}", integrator=integrator)


def table() -> str:
    """Return the table as Markdown: integrators by features."""
    lines = ["| integrator | " + " | ".join(FEATURES) + " |", "|---" * (1 + len(FEATURES)) + "|"]
    for integrator, rejected in REJECTED.items():
        taken = [PARTLY.get((integrator, feature), "yes") for feature in FEATURES]
        pairs = zip(FEATURES, taken, strict=True)
        entries = ["no" if feature in rejected else words for feature, words in pairs]
        lines.append(f"| `{integrator}` | " + " | ".join(entries) + " |")
    return "\n".join(lines)
