"""The moving picture of the first page: a quadruped on the floor, by examples/27_trot.py.

`python docs/pictures/trot.py` writes it.
"""

from __future__ import annotations

import runpy
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    run = runpy.run_path(str(HERE.parents[1] / "examples" / "27_trot.py"))["run"]
    print(run.animation(HERE / "trot.gif", rate=12, speed=0.8, width=420, height=250))
