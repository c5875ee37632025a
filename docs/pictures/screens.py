"""Screenshots of reports for the documents: `python docs/pictures/screens.py` needs chromium and playwright."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import kinpair as kp

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WIDTH, HEIGHT, COLOURS = 1100, 760, 96
WHOLE = "four-bar"  # shown in full size
SMALL = (550, 380)
RUNS: dict[str, dict[str, Any]] = {  # how each example moves
    "four-bar": {"duration": 2.0, "torque": [0.01, 0, 0]},
    "bicycle": {"qd": {"rear": 12.0}, "duration": 1.0},
    "delta": {"duration": 0.3},
    "diff-drive": {"qd": {"left-wheel": 4.0, "right-wheel": 8.0}, "duration": 2.0},
    "double-pendulum": {"q": [1.6, 0.4], "duration": 2.0},
    "gripper": {"qd": {"left-driver": 1.0}, "duration": 0.5},
    "redundant-arm": {"duration": 1.0},
    "stanford-arm": {"q": [0.2, 1.1, 0.6, -0.3, 0.7, 0.4], "duration": 1.0},
    "stewart": {"duration": 0.3},
    "three-rrr": {"qd": {"crank1": 2.0}, "duration": 0.5},
}


def moved(name: str, q: Any = None, qd: Any = None, **options: Any) -> kp.Result:
    """A run of the example, from where it starts unless told otherwise."""
    m = kp.example(name)
    start = m.start() if q is None else q
    rates = m.velocities(start, qd) if qd else [0.0] * m.nv
    return kp.simulate(m, start, rates, output=0.005, **options)


def main(names: list[str]) -> None:
    """Write the report of each run, and look at it in the middle of the motion."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    folder = Path(tempfile.mkdtemp())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in names:
            run = moved(name, **RUNS[name])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(run.report(folder / f"{name}.html").as_uri())
            page.wait_for_selector("body[data-ready=yes]")
            page.evaluate(f"kinpair.go({0.17 if name == WHOLE else 0.5 * run.time[-1]})")
            file = HERE / f"report-{name}.png"
            page.screenshot(path=file)
            page.close()
            picture = Image.open(file).convert("RGB")
            picture = picture if name == WHOLE else picture.resize(SMALL)
            picture.quantize(COLOURS).save(file, optimize=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:] or list(RUNS))
