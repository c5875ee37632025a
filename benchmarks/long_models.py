"""`python -m benchmarks.long_models`: time and memory to build, print, draw and compile chains of 10³ to 10⁶ links.

Each chain has a process of its own; the longest has a second one, which finds its code on disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.planning import Row as Figure

SIZES = (1_000, 10_000, 100_000, 1_000_000)
DRAWN = 10_000  # links of the longest chain that is drawn
SECONDS = {100_000: 5.0, 1_000_000: 60.0}  # demanded of building, by links
COMPILED, CACHED, URDF, BYTES = (
    1.0,
    0.3,
    4.0,
    8e9,
)  # demanded: seconds of code, of a URDF of 10⁴ links, memory

CHILD = """
import json, resource, sys, time
import kinpair as kp
kp.example("four-bar")
def memory():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, n, drawn = memory(), int(sys.argv[1]), int(sys.argv[2])
start = time.process_time()
m = kp.build(kp.Builder("rope").chain("rope", n=n, length=10.0, mass=1.0, joint="universal"))
built = time.process_time()
str(m)
printed = time.process_time()
own = memory() - before
m.kernel("forward_dynamics", rolled=True).compile("one")
compiled = time.process_time()
if n <= drawn:
    m.picture(sys.argv[3])
end = time.process_time()
print(json.dumps({"build": built - start, "print": printed - built, "compile": compiled - printed,
                  "picture": end - compiled, "memory": own, "peak": memory()}))
"""
READING = """
import sys, time
import kinpair as kp
kp.example("four-bar")
start = time.process_time()
kp.load(sys.argv[1])
print(time.process_time() - start)
"""


def measured(n: int, folder: Path) -> dict[str, float]:
    """Seconds and bytes of a chain of n links; code is kept in the folder."""
    return json.loads(_child(CHILD, str(n), str(DRAWN), str(folder / "rope.png"), cache=folder))


def _child(code: str, *words: str, cache: Path) -> Any:
    settings = os.environ | {"KINPAIR_CACHE": str(cache / "cache")}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=settings).stdout


def urdf(n: int) -> str:
    """A chain of n hinged links."""
    inertial = (
        '<inertial><origin xyz="0 0 -0.05"/><mass value="0.1"/>'
        '<inertia ixx="1e-4" iyy="1e-4" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    parts = ['<robot name="chain"><link name="link0"/>']
    for k in range(1, n + 1):
        parts.append(f'<link name="link{k}">{inertial}</link>')
        parts.append(
            f'<joint name="joint{k}" type="continuous"><parent link="link{k - 1}"/><child link="link{k}"/>'
            '<origin xyz="0 0 -0.1"/><axis xyz="0 1 0"/></joint>'
        )
    return "".join([*parts, "</robot>"])


def figures(quick: bool) -> Iterator[Figure]:
    """What is demanded of long chains before they are computed with."""
    sizes = SIZES[1 : 3 if quick else None]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n in sizes:
            x = measured(n, folder)
            yield Figure(f"chain of {n} links: built", x["build"], "s", SECONDS.get(n))
            yield Figure(f"chain of {n} links: forward dynamics compiled", x["compile"], "s", COMPILED)
            yield Figure(f"chain of {n} links: memory at most", x["peak"], "B", BYTES)
        again = measured(sizes[-1], folder)["compile"]
        yield Figure(f"chain of {sizes[-1]} links: code from disk", again, "s", CACHED)
        (file := folder / "chain.urdf").write_text(urdf(DRAWN))
        yield Figure(
            f"URDF of {DRAWN} links: read", float(_child(READING, str(file), cache=folder)), "s", URDF
        )


def main() -> None:
    """Measure and print one row a size; times of a link compared with those of the shortest chain."""
    first = 0.0
    print(
        "| links | build [s] | per link [µs] | ratio | print [s] | compile [s] | picture [s] | memory per link [kB] |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES:
            x = measured(n, Path(folder))
            each = x["build"] / n
            first = first or each
            drawn = f"{x['picture']:.2f}" if n <= DRAWN else "-"
            print(
                f"| {n} | {x['build']:.3g} | {1e6 * each:.3g} | {each / first:.2f} | {x['print']:.3f} | "
                f"{x['compile']:.2f} | {drawn} | {x['memory'] / n / 1e3:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
