"""What a folder of a sweep holds is what its journal holds, whenever one looks."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp


def power(x, n=2):
    return {"power": float(x) ** n}


def rows(table, *names):
    return sorted(zip(*(table[name].tolist() for name in names), strict=True))


def test_fewer_cases_asked_for_leave_all_in_the_table(tmp_path):
    kp.sweep(power, {"x": range(10)}, out=tmp_path, workers=0, units={"power": "W"})
    request_of = kp.sweep(power, {"x": range(6)}, out=tmp_path, workers=0, resume=True, units={"power": "W"})
    assert len(request_of) == 6
    kept = kp.open_sweep(tmp_path)
    assert rows(kept, "x", "power") == [(x, x**2) for x in range(10)]
    assert (kept.summary, kept.units) == ("10 cases", {"x": "", "power": "W"})
    again = kp.sweep(power, {"x": range(8, 12)}, out=tmp_path, workers=0, resume=True)
    assert again["x"].tolist() == [8, 9, 10, 11]
    assert rows(kp.open_sweep(tmp_path), "x", "power") == [(x, x**2) for x in range(12)]


def test_cases_of_other_inputs_stand_beside_each_other(tmp_path):
    kp.sweep(power, {"x": [1, 2]}, out=tmp_path, workers=0)
    kp.sweep(power, {"x": [2, 3], "n": [3]}, out=tmp_path, workers=0, resume=True)
    kept = kp.open_sweep(tmp_path)
    assert kept.inputs == ("x", "n")
    assert kept.grid == ()
    assert rows(kept, "x", "power") == [(1, 1), (2, 4), (2, 8), (3, 27)]
    np.testing.assert_array_equal(kept["n"], [3, 3, np.nan, np.nan])  # what was asked for last comes first


@pytest.mark.parametrize("lost", ["all", "old"])
def test_a_journal_without_its_table_is_opened(tmp_path, lost):
    """As after kill -9: no table, or one from before."""
    over = {"x": [1.0, 2.0], "n": [1, 2, 3]}
    if lost == "old":
        kp.sweep(power, {"x": [1.0], "n": [1]}, out=tmp_path, workers=0, units={"power": "W"})
    whole = kp.sweep(power, over, out=tmp_path, workers=0, units={"power": "W"}, resume=True)
    old = (tmp_path / "table.parquet").read_bytes()
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    if lost == "old":
        kp.sweep(power, {"x": [7.0], "n": [1]}, out=tmp_path, workers=0, resume=True)
        (tmp_path / "table.parquet").write_bytes(old)
        assert len(kp.open_sweep(tmp_path)) == 7
        return
    (tmp_path / "table.parquet").unlink()
    opened = kp.open_sweep(tmp_path)
    assert rows(opened, "x", "n", "power") == rows(whole, "x", "n", "power")
    assert (opened.name, opened.inputs, opened.units, opened.grid) == (
        whole.name,
        whole.inputs,
        whole.units,
        whole.grid,
    )
    assert opened.to_xarray()["power"].sel({"x": 2.0, "n": 3}) == 8
    journal.write_bytes(b"".join(lines[:-2]) + lines[-1][:5])
    cut = kp.open_sweep(tmp_path)
    assert cut.summary == "4 cases, 2 missing"
    assert len(kp.open_sweep(journal)) == 4


def test_what_is_no_sweep_is_refused(tmp_path):
    with pytest.raises(kp.InputError, match=r"no sweep is here: neither table.parquet nor journal.jsonl"):
        kp.open_sweep(tmp_path)
    (tmp_path / "journal.jsonl").write_text("notes\n")
    with pytest.raises(kp.InputError, match="is not the journal of a sweep"):
        kp.open_sweep(tmp_path)


def test_a_number_that_is_none_is_a_failed_case_with_its_other_numbers(tmp_path):
    def case(x):
        return {"y": 1 / x if x else float("nan"), "z": x + 1, "v": [x, float("inf") if x == 2 else 0.0]}

    table = kp.sweep(case, {"x": [0, 1, 2]}, out=tmp_path, workers=0)
    assert table.errors.tolist() == [
        "case returned nan for 'y'",
        "",
        "case returned inf in 'v'",
    ]
    assert table["z"].tolist() == [1, 2, 3]
    assert table.summary == "3 cases, 2 failed"
    opened = kp.open_sweep(tmp_path)
    assert (opened["z"].tolist(), opened.errors.tolist()) == ([1, 2, 3], table.errors.tolist())
    again = kp.sweep(case, {"x": [0, 1, 2]}, out=tmp_path, workers=0, resume=True)
    assert again.errors.tolist() == table.errors.tolist()
    assert again["z"].tolist() == [1, 2, 3]


def test_a_name_left_out_is_no_failure():
    table = kp.sweep(lambda x: {"y": x} if x else {"z": 1.0}, {"x": [0, 1]}, workers=0)
    assert not table.failed.any()
    np.testing.assert_array_equal(table["y"], [np.nan, 1])


def test_recorded_functions_of_a_run_are_checked_likewise():
    def none(run):
        return float("nan")

    study = kp.Study("double-pendulum", duration=0.01, integrator="rk4", dt=1e-3, record=["final", none])
    table = kp.sweep(study, {"q.elbow": [0.1]}, workers=0)
    assert table.errors.tolist() == ["none returned nan for 'none'"]
    assert np.isfinite(table["final q.elbow"]).all()
