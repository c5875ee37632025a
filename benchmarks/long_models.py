"""`python -m benchmarks.long_models`: time and memory to build, print and draw chains of 10³ to 10⁶ links."""

from __future__ import annotations

import json
import subprocess
import sys

SIZES = (1_000, 10_000, 100_000, 1_000_000)
DRAWN = 10_000  # links of the longest chain that is drawn

CHILD = """
import json, resource, sys, time
import kinpair as kp
kp.example("four-bar")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
n, drawn = int(sys.argv[1]), int(sys.argv[2])
start = time.process_time()
m = kp.build(kp.Builder("rope").chain("rope", n=n, length=10.0, mass=1.0, joint="universal"))
built = time.process_time()
str(m)
printed = time.process_time()
memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
if n <= drawn:
    m.picture(sys.argv[3])
end = time.process_time()
print(json.dumps({"build": built - start, "print": printed - built, "picture": end - printed, "memory": memory}))
"""


def measured(n: int, picture: str) -> dict[str, float]:
    """Seconds and bytes of a chain of n links, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", CHILD, str(n), str(DRAWN), picture], check=True, capture_output=True, text=True
    )
    return json.loads(run.stdout)


def main() -> None:
    """Measure and print one row a size; times of a link compared with those of the shortest chain."""
    import tempfile
    from pathlib import Path

    rows: list[str] = []
    first = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES:
            x = measured(n, str(Path(folder) / "rope.png"))
            each = x["build"] / n
            first = first or each
            drawn = f"{x['picture']:.2f}" if n <= DRAWN else "-"
            rows.append(
                f"| {n} | {x['build']:.3g} | {1e6 * each:.3g} | {each / first:.2f} | {x['print']:.3f} | {drawn} | "
                f"{x['memory'] / n / 1e3:.2f} |"
            )
            print(rows[-1], flush=True)
    print("\n| links | build [s] | per link [µs] | ratio | print [s] | picture [s] | memory per link [kB] |")
    print("|---|---|---|---|---|---|---|", *rows, sep="\n")


if __name__ == "__main__":
    main()
