"""What one run of the benchmarks has found, written down."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
from benchmarks import __main__ as main
from benchmarks import markdown, page, targets
from benchmarks.batches import Row
from benchmarks.constrained_row import Growth
from benchmarks.planning import Row as Figure
from benchmarks.results import Results
from rich.console import Console


def results(**rows) -> Results:
    return Results(
        machine="one", commit="0123abc", versions={"pin": "4", "CyRK": ""}, instructions=("AVX2",), **rows
    )


def races() -> dict[str, list[Row]]:
    """Batches of two robots, with two instruction sets."""
    of = {"inverse dynamics": 2.0, "forward dynamics": 3.0, "∂τ/∂(q, q̇)": 4.0}
    batches = [
        Row(name, robot, 6, {"AVX2": 10.0, "AVX-512": 5.0}, {}, {"Pinocchio": 100.0 * k, "MuJoCo": 200.0 * k})
        for name, k in of.items()
        for robot in ("UR5", "G1")
    ]
    for row in batches[-2:]:  # no derivatives in MuJoCo
        row.peers["CasADi"] = row.peers.pop("MuJoCo")
    one = [Row("one state", "UR5", 6, {"scalar": 10.0}, {}, {"Pinocchio": 90.0})]
    return {"batches": batches, "singles": one}


def test_numbers_of_numpy_are_written_as_plain_ones():
    found = results(
        growth=[Growth((1, 2, 4), (10, 20, 40), (1.0, 2.0, 4.0), (0.1, 0.2, 0.4))],
        figures=[Figure("a run", np.float64(3.0), "ms", np.float64(4.0))],
    )
    plain = json.loads(found.as_json())
    verdict = next(x for x in plain["verdicts"] if x["what"] == "a run [ms]")
    assert (verdict["found"], verdict["demanded"], verdict["met"]) == (3.0, 4.0, True)


def test_a_section_that_fails_leaves_the_others(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(main, "OUT", tmp_path)

    def broken():
        yield Figure("first", 1.0, "s", 2.0)
        raise ValueError("no such engine")

    chosen = {
        "broken": ("figures", broken),
        "sound": ("figures", lambda: [Figure("second | third", 9.0, "s", 2.0)]),
    }
    assert main.run(Console(width=200), chosen) == 1
    text = (tmp_path / "bench.md").read_text("utf-8")
    assert "Section `broken` failed: ValueError: no such engine." in text
    assert "| first | 1 s | ✓ ≤ 2 |" in text
    assert "| second ¦ third | 9 s | ✗ ≤ 2 |" in text
    assert "load before" in text
    assert json.loads((tmp_path / "bench.json").read_text("utf-8"))["seconds"].keys() == chosen.keys()
    assert "no such engine" in capsys.readouterr().err


def test_a_demand_that_is_not_met_has_its_reason():
    row = Row("one state, coriolis", "G1", 29, {"kinpair": 10.0}, {}, {"Pinocchio": 40.0}, {"Pinocchio": 5.0})
    (line,) = (
        x
        for x in markdown.written(results(humanoids=[row])).splitlines()
        if x.startswith("| one state, coriolis, G1")
    )
    assert targets.reason("one state, coriolis, G1, times Pinocchio") in line


def test_every_section_fills_a_field_of_the_results():
    kinds = {kind for kind, _ in main.sections(quick=True).values()}
    assert kinds < {x.name for x in fields(Results)}


def test_a_run_is_put_into_the_page_and_the_first_screen():
    written = markdown.written(results(**races()))
    before = "# Benchmarks\n\nat commit `0000000`\n\n## One run\n\nold\n\n## After\n\nkept\n"
    after = page.with_run(before, written)
    assert "old" not in after
    assert after.endswith("## After\n\nkept\n")
    assert "Figures of `python -m benchmarks` at commit `0123abc` on one, one thread." in after
    assert "Not installed: CyRK." in after
    assert "| UR5 | 6 | 10 · 5 | 20.0 · 40.0 | 40.0 · 80.0 |" in after
    assert "| robot | DoF | AVX2 · AVX-512 [ns] | Pinocchio | MuJoCo | CasADi |" in after
    assert "| UR5 | 6 | 10 · 5 | 40.0 · 80.0 |  | 80.0 · 160.0 |" in after
    screen = (
        "| Pinocchio | words | inverse 1 (UR5), 2 (G1); forward 3, 4; ∂τ 5, 6; loops 9 to 9; one state 7 to 8 |\n"
        "| MuJoCo | words | inverse dynamics 1 (UR5), 2 (G1); forward 3, 4; one motion at 1 kHz 10 to 12 |\n"
        "Commit `0000000`.\n"
    )
    assert page.with_figures(screen, after) == (
        "| Pinocchio | words | inverse 20 (UR5), 20 (G1); forward 30, 30; ∂τ 40, 40; loops 9 to 9; one state 9 to 9 |\n"
        "| MuJoCo | words | inverse dynamics 40 (UR5), 40 (G1); forward 60, 60; one motion at 1 kHz 10 to 12 |\n"
        "Commit `0123abc`.\n"
    )
