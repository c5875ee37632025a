"""Pictures of the tutorials: what their own programs write.

`python docs/pictures/tutorials.py` runs the programs of docs/tutorials and keeps their pictures here.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.resolve()
PAGES = HERE.parent / "tutorials"
COLOURS = 96
PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)


def write(names: list[str]) -> None:
    """Run each page in a folder of its own; store its pictures with few colours: small files."""
    from PIL import Image

    for name in names:
        os.chdir(tempfile.mkdtemp())
        scope: dict[str, Any] = {}
        for program in PROGRAM.findall((PAGES / f"{name}.md").read_text("utf-8")):
            exec(compile(program, f"{name}.md", "exec"), scope)
        for file in Path().glob("tutorial-*.png"):
            few = Image.open(file).convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
            few.save(HERE / file.name, optimize=True)
            print(file.name, (HERE / file.name).stat().st_size)


if __name__ == "__main__":
    write(sys.argv[1:] or sorted(page.stem for page in PAGES.glob("*.md")))
