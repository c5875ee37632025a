"""From a log to parameters: true values are found, results are consistent, files reproduce predictions."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pytest

import identification_logs as logs
import kinpair as kp
import kinpair.identification as package
from kinpair.identification.columns import OFFSET
from kinpair.identification.signals import external
from kinpair.loading import build


@pytest.fixture(scope="module")
def result():
    return kp.identify(
        logs.guess(), logs.log(logs.arm()), friction=["viscous", "coulomb", "offset"], validate=0.3
    )


@pytest.fixture(scope="module")
def loaded():
    return kp.identify(logs.guess(), logs.log(logs.arm(logs.WITH_LOAD), noise=0.02), validate=0.3)


def test_the_function_stays_callable_after_every_submodule_is_imported():
    for x in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"kinpair.identification.{x.name}")
    assert callable(kp.identify)


def test_true_parameters_are_found(result):
    true = logs.arm()
    by_name = dict(zip(true.regressor_names, true.regressor_parameters(), strict=True))
    for x in ("waist", "shoulder", "elbow"):
        assert result.parameters[f"{x}: coulomb"] == pytest.approx(2.0, abs=0.15)
        assert result.parameters[f"{x}: viscous"] == pytest.approx(1.5, abs=0.15)
    assert result.parameters["fore: m cx"] == pytest.approx(by_name["fore: m cx"], rel=0.02)
    assert result.validated.total < 0.01


def test_results_are_consistent(result, loaded):
    assert result.is_consistent
    assert loaded.is_consistent
    for x in (result, loaded):
        m = build(x.description)
        for i in m.model.moving:
            assert m.model.body[i].m > 0
            J = np.linalg.eigvalsh(m.model.body[i].I)
            assert J[0] > 0
            assert J[2] < J[0] + J[1]


def test_friction_from_load_is_chosen_and_its_coefficient_found(loaded):
    assert "load" in [x.kind for x in loaded.layout.terms]
    assert loaded.parameters["shoulder: load"] == pytest.approx(0.06, abs=0.012)
    laws = {x.name: x.friction for x in loaded.description.joints}
    assert laws["shoulder"][0].law == "servo"


@pytest.mark.parametrize("which", ["result", "loaded"])
def test_the_new_description_gives_the_predicted_efforts(which, request):
    """Inverse dynamics of the written mechanism by the library's own laws, next to Y θ of the columns."""
    x = request.getfixturevalue(which)
    m = build(x.description)
    run = x.runs[0]
    s = run.samples
    at = slice(400, 3600, 97)
    fast = np.abs(s.qd[at]).min(1) > 0.05
    T = external(run, x.theta)
    columns = np.concatenate([run.inertial, x.layout.further(s.qd, s.qdd, T)], axis=2)
    tau = m.inverse_dynamics(s.q[at], s.qd[at], s.qdd[at])
    offsets = [k for k, p in enumerate(x.layout.parameters) if p.term == OFFSET]
    theta = x.theta.copy()
    if which == "loaded":  # an offset next to friction from load is one of the measurement
        theta[offsets] = 0.0
    np.testing.assert_allclose(tau[fast], (columns @ theta)[at][fast], rtol=1e-8, atol=1e-8)


def test_toml_reads_back(result, tmp_path):
    file = result.toml(tmp_path / "new.toml")
    m = kp.load(file)
    assert m.model.body[1].m == pytest.approx(result.parameters["column: m"], rel=1e-12)


def test_intervals_are_of_identifiable_parameters_only(result):
    labels = [x.label for x in result.intervals]
    assert len(labels) == result.base.rank
    for name in result.not_identifiable:
        assert not any(name in x.replace("− ", "+ ").split(" + ") for x in labels)
    assert "column: m" in result.not_identifiable


def test_prediction_of_another_log_and_score_agree(result):
    other = logs.log(logs.arm(), seed=5, path=logs.motion(10.0, seed=11))
    p = result.predict(other)
    score = result.score(other)
    e = np.where(p.kept, p.measured - p.predicted, 0.0)
    assert score.total == pytest.approx(np.linalg.norm(e) / np.linalg.norm(np.where(p.kept, p.measured, 0.0)))
    assert score.total < 0.02
    assert score.rms.shape == (3,)


def test_reports_and_pictures_are_written(loaded, tmp_path):
    page = loaded.report(tmp_path / "id.html").read_text("utf-8")
    for word in (
        "Fit by joint",
        "95 %",
        "Not identifiable",
        "Correlation",
        "Contribution",
        "shoulder",
        "servo level",
    ):
        assert word in page
    loaded.plot(tmp_path / "id.png")
    assert (tmp_path / "id.png").stat().st_size > 10_000
    assert "relative error" in str(loaded)
