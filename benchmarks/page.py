"""`python -m benchmarks.page`: put build/bench.md into docs/benchmarks.md, and its ratios into both READMEs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.__main__ import OUT

PAGE, SCREENS = Path("docs", "benchmarks.md"), (Path("README.md"), Path("README.zh.md"))
HEADING = "## One run\n"
QUANTITIES, ROBOTS = ("inverse dynamics", "forward dynamics", "∂τ/∂(q, q̇)"), ("UR5", "G1")
LOOPS = ("forward dynamics with loops, batch 1024", ("four-bar", "three-rrr", "stewart"))
MOTIONS = ("motion, RK4 at 1 kHz", ("xArm7", "Panda"))
ONE = ("one state", ("UR5", "Panda", "G1"))
NUMBER = r"(?<![\d.])\d+(?![\d.])"


def with_run(page: str, written: str) -> str:
    """The page with another run in its section."""
    before, rest = page.split(HEADING)
    after = rest.find("\n## ")
    return f"{before}{HEADING}\n{written.strip()}\n{rest[after:] if after >= 0 else ''}"


def with_figures(screen: str, page: str) -> str:
    """The first screen with ratios and commit of the page; figures that the page does not have stay."""
    for engine in ("Pinocchio", "MuJoCo"):
        row = re.search(rf"^\| {engine} \|.*", screen, re.MULTILINE)
        if row is None:
            raise SystemExit(f"no row of {engine}")
        name, words, figures = row[0].strip("|").split("|")
        found = iter(ratios(engine, page))
        changed = re.sub(rf"UR5|G1|1 kHz|{NUMBER}", lambda x, found=found: _replaced(x[0], found), figures)
        screen = screen.replace(row[0], f"|{name}|{words}|{changed}|")
    commit = re.findall(r"at commit `([0-9a-f]{7})`", page.split(HEADING)[1])[0]
    return re.sub(r"`[0-9a-f]{7}`", f"`{commit}`", screen, count=1)


def _replaced(old: str, found: Iterator[int | None]) -> str:
    if old in ("UR5", "G1", "1 kHz"):
        return old
    number = next(found)
    return old if number is None else str(number)


def ratios(engine: str, page: str) -> Iterator[int | None]:
    """In the order of the first screen; None where the page has no such table."""
    for quantity in QUANTITIES if engine == "Pinocchio" else QUANTITIES[:2]:
        yield from (_ratio(page, quantity, robot, engine) for robot in ROBOTS)
    for quantity, robots in (LOOPS, ONE) if engine == "Pinocchio" else (MOTIONS,):
        every = [x for robot in robots if (x := _ratio(page, quantity, robot, engine)) is not None]
        yield from (min(every), max(every)) if every else (None, None)


def _ratio(page: str, quantity: str, robot: str, engine: str) -> int | None:
    """Of the first instruction set, rounded."""
    table = re.search(rf"### {re.escape(quantity)}\n\n(.*?)(?:\n\n|\Z)", page, re.DOTALL)
    if table is None:
        return None
    head, _, *rows = ([x.strip() for x in line.split("|")] for line in table[1].splitlines())
    column = head.index(engine)
    return next((round(float(row[column].split()[0])) for row in rows if row[1] == robot), None)


def main() -> None:
    """Change the files."""
    page = with_run(PAGE.read_text(encoding="utf-8"), (OUT / "bench.md").read_text(encoding="utf-8"))
    PAGE.write_text(page, encoding="utf-8")
    for screen in SCREENS:
        screen.write_text(with_figures(screen.read_text(encoding="utf-8"), page), encoding="utf-8")


if __name__ == "__main__":
    main()
