"""A screenshot of a report for the documents: `python docs/pictures/screens.py` needs chromium and playwright."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import kinpair as kp

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
FILE = Path(__file__).parent / "report-four-bar.png"


def main() -> None:
    """Run the four-bar linkage, write its report, look at it in the middle of the motion."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    linkage = kp.example("four-bar")
    run = kp.simulate(
        linkage, linkage.start(), [0.0, 0.0, 0.0], duration=2.0, output=0.005, torque=[0.01, 0, 0]
    )
    page_file = run.report(Path(tempfile.mkdtemp()) / "run.html")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 760})
        page.goto(page_file.as_uri())
        page.wait_for_selector("body[data-ready=yes]")
        page.evaluate("kinpair.go(0.17)")
        page.screenshot(path=FILE)
        browser.close()
    Image.open(FILE).convert("RGB").quantize(96).save(FILE, optimize=True)


if __name__ == "__main__":
    main()
