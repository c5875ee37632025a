"""What is said about logs that are wrong or suspicious."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import identification_logs as logs
import kinpair as kp
from kinpair import IdentificationWarning, InputError

PLAIN = {"friction": ["viscous", "coulomb", "offset"], "progress": False}


@pytest.fixture(scope="module")
def good():
    return logs.log(logs.arm(), duration=10.0)


def identify(log, **options):
    return kp.identify(logs.guess(), log, **{**PLAIN, **options})


def renamed(log, **names):
    return {names.get(k, k): x for k, x in log.items()}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: {k: v for k, v in x.items() if k != "t"}, "no column 't'"),
        (lambda x: {k: v for k, v in x.items() if not k.startswith("q")}, "no position columns"),
        (lambda x: {k: v for k, v in x.items() if not k.startswith("tau")}, "no effort columns"),
        (lambda x: x | {"t": np.zeros(len(x["t"]))}, "no two rows"),
        (
            lambda x: {k: v * np.where(np.arange(len(v)) % 3, 1.0, np.nan) for k, v in x.items()},
            "More than 20% of the log",
        ),
        (lambda x: {k: v if k == "t" else 0 * v + 0.3 for k, v in x.items()}, "the log is at rest"),
        (lambda x: {k: v[:3] for k, v in x.items()}, "a longer log is required"),
    ],
)
def test_logs_that_cannot_be_used_are_rejected(good, change, words):
    with pytest.raises(InputError, match=words):
        identify(change(good))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"columns": {"q": ["q_waist", "q_sholder", "q_elbow"]}},
            "no column 'q_sholder'.*did you mean 'q_shoulder'",
        ),
        ({"columns": {"q": ["q_waist"]}}, "1 names of 'q'; the mechanism has 3 axes"),
        ({"columns": {"position": []}}, "the key 'position'"),
        ({"torque": "motors"}, "torque is 'motors'; did you mean 'motor'"),
        ({"estimator": "least"}, "no estimator 'least'"),
        ({"gear": [1, 2]}, "gear has shape"),
        ({"torque": "current", "columns": {"i": ["tau_waist", "tau_shoulder", "tau_elbow"]}}, "give gains"),
        ({"friction": ["coulombe"]}, "friction has 'coulombe'"),
        ({"prior": "cad"}, "prior is 'cad'"),
        ({"signals": {"cutoff": 3}}, "its keys are rate"),
        ({"payload": {"link": "hand"}}, "no moving link 'hand'"),
        ({"validate": 0.95}, "validate is 0.95"),
    ],
)
def test_wrong_arguments_are_named(good, options, words):
    with pytest.raises(InputError, match=words):
        identify(good, **options)


def test_another_number_of_axes_is_reported_with_both_counts(good):
    numbered = {"t": good["t"], **{f"q{k + 1}": good["q_waist"] for k in range(4)}}
    with pytest.raises(InputError, match=r"4 position columns.*the mechanism has 3 axes"):
        identify(numbered)


def test_rows_without_numbers_are_dropped_counted_and_listed(good):
    broken = {k: v.copy() for k, v in good.items()}
    broken["q_elbow"][[100, 700]] = np.nan
    broken["tau_waist"][900] = 1e13
    result = identify(broken)
    assert any("3 of 2000 rows dropped" in x and "at t = 0.5, 3.5, 4.5 s" in x for x in result.notes)
    assert result.fit.total < 0.02


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x | {"tau_shoulder": -x["tau_shoulder"]}, "wrong sign|sign seems to be wrong"),
        (lambda x: x | {"tau_shoulder": x["tau_elbow"], "tau_elbow": x["tau_shoulder"]}, "order of the axes"),
        (lambda x: x | {"q_elbow": np.degrees(x["q_elbow"])}, "in degrees"),
        (lambda x: x | {"qd_elbow": 30 / np.pi * np.gradient(x["q_elbow"], x["t"])}, "turns per minute"),
        (lambda x: x | {"q_waist": 0 * x["q_waist"]}, "waist did not move"),
    ],
)
def test_suspicious_logs_have_a_warning(good, change, words):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = identify(change(good))
    assert {x.category for x in caught} == {IdentificationWarning}
    assert [str(x.message) for x in caught] == list(result.warnings)
    assert any(re.search(words, x) for x in result.warnings)


def test_a_joint_that_did_not_move_has_no_intervals_of_its_friction(good):
    with pytest.warns(IdentificationWarning):
        result = identify(good | {"q_waist": 0 * good["q_waist"]})
    labels = " ".join(x.label for x in result.intervals)
    assert "waist: viscous" not in labels
    assert "waist: viscous" in result.not_identifiable


def test_a_sound_log_has_no_warnings(good):
    assert identify(good).warnings == ()
