"""Identification of real robots: python -m benchmarks.identification FOLDER [--validate FOLDER] [--json OUT].

FOLDER has a folder per robot (tx40, ur10e, panda, tiago) with its URDF file and logs. The protocol:

* uniform resampling (TX40 500, UR10e 100, Panda 1000 Hz), zero-phase Butterworth filter of design order 4 on q (50, 10,
  15 Hz), central differences;
* the same form of filter at 10 Hz on measured and predicted torques, 25 rows per second;
* rows of a joint below its speed threshold are left out, and one period of both cut-offs at the ends of a log, where
  filters have no data;
* error ‖τ − τ̂‖/‖τ‖ over all joints, RMS by joint.

Parameters, friction terms and weight of the prior are chosen on the first 70 % of each file and scored on the rest.
With --validate, parameters from whole files of FOLDER are scored on the logs of the other folder, which has one folder
per robot, too. Where the package `figaroh` is installed, its estimator runs on the TX40 log.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import kinpair as kp

SPLIT = 0.3  # last part of each file
RATIOS = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
RATIOS[5, 4] = 32.0  # motor 6 turns with joints 5 and 6
PUBLISHED = {  # figaroh-plus, results/TX40_bp_5.csv, whole log of 9 s
    "fv": (8.09, 5.59, 1.98, 1.11, 1.85, 0.65),
    "fs": (7.01, 8.13, 6.28, 2.49, 3.04, 0.30),
}
ROTOR_6 = 0.0105  # Ia6 of the configuration file


@dataclass(frozen=True)
class Robot:
    """How the logs of a robot are read; `required`, `aim`: errors on the split."""

    urdf: str
    options: dict[str, Any]
    signals: dict[str, Any]
    required: float = np.inf
    aim: float = np.inf
    payload: str = ""  # link that carries a payload in logs whose name has "Load"
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


def _signals(rate: float, cutoff: float, least: Any) -> dict[str, Any]:
    common = {"effort_cutoff": 10.0, "output_rate": 25.0, "delay": 0.0}
    return {"rate": rate, "position_cutoff": cutoff, "least_speed": least, **common}


ARM = [f"arm_{k}_joint" for k in range(1, 8)]
ROBOTS = {
    "tx40": Robot(
        "tx40_mdh_modified.urdf",
        {"torque": "motor", "gear": RATIOS, "columns": {"zero": [0, -np.pi / 2, np.pi / 2, 0, 0, 0]}},
        _signals(500.0, 50.0, (0.050, 0.050, 0.075, 0.0716, 0.0559, 0.122)),
        0.050,
        0.040,
    ),
    "ur10e": Robot(
        "ur10e.urdf",
        {"torque": "current", "gains": (11.976, 11.976, 9.839, 10.763, 10.763, 10.763)},
        _signals(100.0, 10.0, 0.02),
        0.023,
        0.018,
        "wrist_3_link",
    ),
    "panda": Robot("panda_gaz.urdf", {"torque": "sensor"}, _signals(1000.0, 15.0, 0.02), 0.0175, 0.015),
    "tiago": Robot(
        "tiago_48_schunk.urdf",
        {
            "torque": "current",
            "gains": (1.0, 13.6, 13.6, -8.7, -8.7, *[336 * -0.0613] * 3),
            "friction": ["viscous", "coulomb", "offset"],
        },
        _signals(50.0, 5.0, 0.02),
    ),
}


def identified(robot: Robot, folder: Path, **options: Any) -> tuple[kp.Identification, list[Path], list[str]]:
    """Result, logs, and warnings of one robot."""
    logs = sorted(folder.glob("*.csv"))
    loaded = [k for k, x in enumerate(logs) if "Load" in x.name]
    payload = {"link": robot.payload, "runs": loaded} if robot.payload and loaded else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = kp.load(folder / robot.urdf)
        result = kp.identify(
            m, logs, payload=payload, signals=robot.signals, progress=False, **{**robot.options, **options}
        )
    return result, logs, [str(x.message) for x in caught if x.category is kp.IdentificationWarning]


def scored(result: kp.Identification, log: Path) -> dict[str, Any]:
    """Errors of one further run."""
    score = result.score(log, payload="Load" in log.name)
    return {"log": log.name, "total": score.total, "rms": score.rms.tolist()}


def measure(name: str, folder: Path, further: Path | None) -> dict[str, Any]:
    """Identify one robot on the split, and on further runs with parameters of whole files."""
    robot, start = ROBOTS[name], time.process_time()
    result, logs, notes = identified(robot, folder, validate=SPLIT)
    assert result.validated is not None
    row: dict[str, Any] = {
        "robot": name,
        "logs": [x.name for x in logs],
        "fit": result.fit.total,
        "split": result.validated.total,
        "rms": result.validated.rms.tolist(),
        "friction": [x.name for x in result.layout.terms],
        "gamma": result.gamma,
        "newton_steps": result.steps,
        "consistent": result.is_consistent,
        "rank": result.base.rank,
        "required": robot.required,
        "aim": robot.aim,
        "warnings": notes,
        "payload": None if result.payload is None else result.payload["mass"],
        "cpu": time.process_time() - start,
    }
    if further is not None and (further / name).is_dir():
        kinds = [x.name for x in result.layout.terms]
        whole, _, _ = identified(robot, folder, friction=kinds)
        runs = [scored(whole, x) for x in sorted((further / name).glob("*.csv"))]
        row["further"] = runs
    return row


def figaroh_columns(folder: Path) -> dict[str, Any]:
    """Viscous and Coulomb friction of the TX40 by WLS with figaroh's columns on all 5 s, with our chain; Ia6."""
    terms = ["viscous", "coulomb", "offset"]
    result, _, _ = identified(ROBOTS["tx40"], folder, friction=terms)
    place = {x: n for n, x in enumerate(result.base.names[k] for k in result.base.independent)}
    beta = result.estimate.beta
    value = {name: float(beta[n]) for name, n in place.items()}
    motor = {key: value[f"motor of joint_6: {key}"] for key in ("viscous", "coulomb")}
    fv = [value[f"joint_{k}: viscous"] + (motor["viscous"] if k > 4 else 0.0) for k in range(1, 7)]
    fs = [value[f"joint_{k}: coulomb"] for k in range(1, 7)]
    pair = [place["joint_6: rotor inertia"], place["motor of joint_6: rotor inertia"]]
    inertia = float(beta[pair].sum())  # figaroh's column of joint 6 has both
    spread = 1.96 * float(np.sqrt(result.covariance.C[np.ix_(pair, pair)].sum()))
    return {
        "rank": result.base.rank,
        "fv": fv,
        "fs": fs,
        "fvm6": motor["viscous"],
        "fsm6": motor["coulomb"],
        "Ia6": (inertia, inertia - spread, inertia + spread),
        "method": result.covariance.method,
    }


def with_figaroh(folder: Path) -> dict[str, Any] | None:
    """Friction of the TX40 by the package `figaroh` on the same samples; None where it is not installed."""
    if find_spec("figaroh") is None:
        return None
    from benchmarks.identification_figaroh import tx40_friction

    result, _, _ = identified(ROBOTS["tx40"], folder, friction=["viscous", "coulomb", "offset"])
    return tx40_friction(result, folder / ROBOTS["tx40"].urdf)


def report(rows: Sequence[dict[str, Any]]) -> None:
    """Print a table and what else was found."""
    print(f"{'robot':8}{'fit':>8}{'split':>8}{'required':>10}{'aim':>8}  friction; γ; rank; CPU")
    for x in rows:
        verdict = "met" if x["split"] <= x["required"] else "NOT met"
        print(
            f"{x['robot']:8}{x['fit']:8.2%}{x['split']:8.2%}{x['required']:10.2%}{x['aim']:8.2%}  {verdict}; "
            f"{', '.join(x['friction'])}; {x['gamma']:g}; {x['rank']}; {x['cpu']:.1f} s"
        )
        print(
            f"{'':8}RMS by joint [N m]: {', '.join(f'{v:.3g}' for v in x['rms'])}; consistent: {x['consistent']}"
        )
        for run in x.get("further", []):
            print(f"{'':8}{run['log']}: {run['total']:.2%}")
        for note in x["warnings"]:
            print(f"{'':8}warning: {note}")


def main() -> None:
    """Measure all robots of the folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.identification", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--validate", type=Path, metavar="FOLDER", help="further runs of the same robots")
    parser.add_argument("--json", type=Path, metavar="OUT")
    given = parser.parse_args()
    names = [x for x in ROBOTS if (given.folder / x).is_dir()]
    if not names:
        parser.error(f"{given.folder} has no folder of a robot: {', '.join(ROBOTS)}")
    rows = [measure(x, given.folder / x, given.validate) for x in names]
    report(rows)
    document: dict[str, Any] = {"robots": rows}
    if "tx40" in names:
        ours, theirs = figaroh_columns(given.folder / "tx40"), with_figaroh(given.folder / "tx40")
        document["tx40"] = {"ours": ours, "figaroh": theirs, "published": PUBLISHED}
        print("\nTX40, WLS with the columns of figaroh on 5 s; published values are of the whole log of 9 s")
        for key in ("fv", "fs"):
            lines = {"our chain": ours[key], "figaroh": (theirs or {}).get(key), "published": PUBLISHED[key]}
            for who, values in lines.items():
                text = "not installed" if values is None else "  ".join(f"{v:7.3f}" for v in values)
                print(f"  {key}  {who:10} {text}")
        text = "{:.4f}, 95 % interval {:.4f} … {:.4f}".format(*ours["Ia6"])
        print(f"  Ia6  {text}; {ROTOR_6} in the configuration file; missing in the published values")
        print(f"       deviations: {ours['method']}")
    if given.json is not None:
        given.json.write_text(json.dumps(document, indent=2, default=float), encoding="utf-8")


if __name__ == "__main__":
    main()
