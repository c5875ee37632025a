"""Pictures of the first page: bundled mechanisms, each at a state worth seeing.

`python docs/pictures/gallery.py` writes them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import kinpair as kp

HERE = Path(__file__).parent
WIDTH, HEIGHT, COLOURS = 420, 315, 128


def four_bar() -> tuple[kp.Mechanism, Any]:
    m = kp.example("four-bar")
    return m, [m.assemble({"crank": a}, fixed=["crank"]) for a in np.linspace(0.2, 2.2, 4)]


def fall() -> tuple[kp.Mechanism, Any]:
    m = kp.example("double-pendulum")
    run = kp.simulate(m, [1.6, 0.4], [0.0, 0.0], duration=0.9, output=0.15)
    return m, run.q


def state(name: str, **q: float) -> tuple[kp.Mechanism, Any]:
    m = kp.example(name)
    return m, m.by_name(q=q)[0] if q else m.start()


def of(name: str, *q: float) -> tuple[kp.Mechanism, Any]:
    return kp.example(name), np.array(q)


PICTURES: dict[str, Any] = {
    "four-bar": four_bar,
    "double-pendulum": fall,
    "stanford-arm": lambda: of("stanford-arm", 0.4, 1.2, 0.5, 0.3, 0.6, 0.2),
    "redundant-arm": lambda: of("redundant-arm", 0.3, 0.7, 0.2, -1.2, 0.4, 0.9, 0.1),
    "stewart": lambda: state("stewart"),
    "delta": lambda: state("delta"),
    "three-rrr": lambda: state("three-rrr"),
    "gripper": lambda: state("gripper"),
    "diff-drive": lambda: state("diff-drive"),
    "two-handed-arm": lambda: state("two-handed-arm"),
}


def write(folder: Path, names: list[str]) -> None:
    """Draw, and store with few colours: small files."""
    from PIL import Image

    for name in names:
        mechanism, q = PICTURES[name]()
        file = folder / f"gallery-{name}.png"
        mechanism.picture(file, q, overlay=True, width=WIDTH, height=HEIGHT)
        Image.open(file).convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT).save(
            file, optimize=True
        )
        print(file.name, file.stat().st_size)


if __name__ == "__main__":
    write(HERE, sys.argv[1:] or list(PICTURES))
