"""`kinpair compare`: every formulation next to the others; `kinpair demo`: two of them along a motion."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np
from cyclopts import Parameter
from rich.table import Table

import kinpair
from kinpair import Comparison, InputError, Mechanism, MissingExtraError, example
from kinpair.analysis.compare import STATES, USUAL
from kinpair.analysis.comparison_views import LEGEND, Part, head, parts
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Root, Snap
from kinpair.cli.output import GAP, table
from kinpair.cli.screen import Screen
from kinpair.viewer.curves import draw_curves
from kinpair.viewer.looks import Panel

Names: TypeAlias = Annotated[
    list[str] | None,
    Parameter(consume_multiple=(1, None), negative="", metavar="NAME...", show_default=False),
]
INTERRUPTED = 130
Out: TypeAlias = Annotated[Path | None, Parameter(metavar="PATH", show_default=False)]


def compare(
    file: Described,
    /,
    *,
    quantity: Names = None,
    states: int = STATES,
    seed: int = 0,
    force: Flag = False,
    no_time: Flag = False,
    base: Root = "fixed",
    snap: Snap = 0.0,
    html: Out = None,
    json: Out = None,
) -> None:
    """Compare all formulations on a mechanism: results, operation counts and times.

    Ctrl-C writes the files with the rows that are finished.

    Parameters
    ----------
    quantity
        Quantities to compare, such as inverse_dynamics mass_matrix. Default: five quantities.
    states
        Number of random states for the comparison.
    seed
        Seed of the random states.
    force
        Include formulations that are left out because they are slow.
    no_time
        Compare results and operation counts only; compile and time nothing.
    html
        Write a page with charts (.html).
    json
        Write all digits to a JSON file.
    """
    mechanism = arguments.mechanism(file, base=base, snap=snap)
    _check_files({"page": (html, (".html", ".htm")), "JSON document": (json, (".json",))})
    comparison = kinpair.compare(
        mechanism, quantities=quantity or USUAL, states=states, seed=seed, force=force, time=not no_time
    )
    _show(comparison)
    screen = Screen()
    if html is not None:
        screen.say(f"page: {comparison.to_html(html)}")
    if json is not None:
        comparison.to_json(json)
        screen.say(f"json: {json}")
    if not comparison.complete:
        screen.say(f"interrupted: {comparison.status}; --quantity selects fewer quantities")
        raise SystemExit(INTERRUPTED)


def _check_files(outputs: Mapping[str, tuple[Path | None, tuple[str, ...]]]) -> None:
    """Check the files before the work: no description given by mistake is overwritten, and the folders exist."""
    for what, (path, endings) in outputs.items():
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            raise InputError(
                f"{path}: a {what} needs a file name that ends in {' or '.join(endings)}", path=path
            )
        if not path.parent.is_dir():
            raise InputError(f"{path}: cannot be written ({os.strerror(errno.ENOENT)})", path=path)


def _show(comparison: Comparison) -> None:
    screen = Screen()
    screen.heading(head(comparison))
    for line in LEGEND:
        screen.say(line)
    for part in parts(comparison):
        screen.say()
        screen.heading(part.title)
        if part.rows:
            screen.print(_fitting(part, screen.width))
        for line in part.lines:
            screen.say(line)


def _fitting(part: Part, width: int) -> Table:
    """The table with its units below the headings where they do not fit next to them; names are never folded."""
    widest = [max(map(len, column)) + GAP for column in zip(part.headings, *part.rows, strict=True)]
    narrow = sum(widest) - GAP > width
    headings = [heading.replace(" [", "\n[") for heading in part.headings] if narrow else part.headings
    fitting = table(headings, part.rows)
    fitting.columns[0].no_wrap = True
    return fitting


DURATION = 10.0  # s
START = (0.0, np.pi / 2, 0.5, 0.0, 0.0, 0.0)
END = (np.pi / 3, np.pi / 3, 0.8, np.pi / 3, np.pi / 3, np.pi / 3)
SAMPLES = 1001
SHOWN = (0.0, 2.5, 5.0, 7.5, 10.0)  # s
METHODS = {"newton-euler": "Newton–Euler", "denoc": "DeNOC"}
EFFORTS = {"revolute": ("torque", "[N m]"), "prismatic": ("force", "[N]")}  # by kind of joint
PICTURE = "kinpair-demo.png"
NEXT = {
    "kinpair info stanford-arm": "the parts of this arm",
    "kinpair dynamics stanford-arm --q joint2=pi/2,joint3=0.5 --frame link6": "results in one state",
    "kinpair examples": "other mechanisms; kinpair examples scara > my.toml makes a copy to edit",
    "kinpair info your-robot.urdf": "your own robot",
}


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Times (n,), and the torques (n, nv) by each formulation."""

    arm: Mechanism
    time: np.ndarray
    tau: dict[str, np.ndarray]

    def disagreement(self) -> float:
        """The largest difference between two formulations, over all times and joints."""
        every = np.array(list(self.tau.values()))
        return float(np.ptp(every, axis=0).max())


def demo(*, out: Annotated[Path, Parameter(metavar="PATH")] = Path(PICTURE)) -> None:
    """Compute torques of the Stanford arm along a motion by two formulations and plot them.

    Parameters
    ----------
    out
        Picture to write (.png, .svg, .pdf), or a directory for it, which is created if missing.
    """
    run = _run()
    picture = _picture(_file(out), run)
    screen = Screen()
    _show_efforts(screen, run)
    screen.say(picture)
    screen.say()
    screen.heading("Next commands")
    for command, what in NEXT.items():
        screen.say(f"  {command}\n      {what}")


def _picture(file: Path, run: Run) -> str:
    """Return a line with the path of the picture, or the reason why there is none."""
    try:
        return f"picture: {draw_curves(file, run.time, _panels(run), title=_title(run.arm))}"
    except MissingExtraError as reason:
        return f"no picture: {reason}"


def _file(out: Path) -> Path:
    if out.suffix and not out.is_dir():
        return out
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise InputError(f"{out}: cannot create this directory ({reason.strerror})", path=str(out)) from None
    return out / PICTURE


def _run() -> Run:
    arm = example("stanford-arm")
    time = np.linspace(0.0, DURATION, SAMPLES)
    q, qd, qdd, _ = kinpair.motion.cycloid(START, END, DURATION).at(time)
    return Run(arm, time, {method: arm.inverse_dynamics(q, qd, qdd, method=method) for method in METHODS})


def _efforts(arm: Mechanism) -> list[tuple[str, str]]:
    """Format the effort of each joint with its unit."""
    return [EFFORTS[arm.model.body[i].pair.kind] for i in arm.model.moving]


def _title(arm: Mechanism) -> str:
    return f"{arm.name}: joint efforts along a cycloidal motion of {DURATION:g} s"


def _show_efforts(screen: Screen, run: Run) -> None:
    screen.heading(_title(run.arm))
    screen.say(f"{SAMPLES} states, one call each by {' and '.join(METHODS.values())}\n")
    tau = next(iter(run.tau.values()))
    rows = [(f"{t:g}", *(f"{x:.6f}" for x in tau[np.searchsorted(run.time, t)])) for t in SHOWN]
    units = (unit for _, unit in _efforts(run.arm))
    headings = [f"{name}\n{unit}" for name, unit in zip(run.arm.v_names, units, strict=True)]
    screen.print(table(("time\n[s]", *headings), rows))
    screen.say(f"\nlargest difference: {run.disagreement():.1e}; largest effort: {abs(tau).max():.4g}")


def _panels(run: Run) -> list[Panel]:
    efforts = zip(run.arm.v_names, _efforts(run.arm), strict=True)
    return [
        Panel(name, " ".join(effort), {METHODS[method]: tau[:, k] for method, tau in run.tau.items()})
        for k, (name, effort) in enumerate(efforts)
    ]
