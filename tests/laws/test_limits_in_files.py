"""Limits and coefficients of restitution in the description: runs follow them, and their own options come first."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kinpair as kp
from kinpair.cli.main import main

HEIGHT, GRAVITY, IMPACT = 5.0, 10.0, 10.0  # m, m/s², m/s after 1 s
AFTER = 0.2  # s


def ball(**limits) -> kp.Builder:
    e = limits.pop("restitution", None)
    builder = kp.Builder("ball", gravity=[0, 0, -GRAVITY], **limits).link("ball", mass=1.0, inertia=[1, 1, 1])
    keys = {} if e is None else {"restitution": e}
    return builder.joint("z", "prismatic", "ground", "ball", axis="z", lower=0.0, **keys)


def speed(m: kp.Mechanism, **options) -> float:
    return float(kp.simulate(m, [HEIGHT], [0.0], duration=1.0 + AFTER, **options).qd[-1, 0])


def rebound(e: float) -> float:
    return e * IMPACT - GRAVITY * AFTER


def test_runs_follow_the_description_and_their_own_options_come_first():
    m = kp.build(ball(limits="bounce", restitution=0.25))
    assert speed(m) == pytest.approx(rebound(0.25), abs=1e-9)
    assert speed(m, limits="ignore") == pytest.approx(-GRAVITY * (1.0 + AFTER), abs=1e-9)
    assert speed(m, limits="stop") == 0.0
    assert speed(m, limits=kp.Limits("bounce", restitution=0.8)) == pytest.approx(rebound(0.8), abs=1e-9)
    assert speed(m, limits=kp.Limits("bounce", restitution={"z": 0.4})) == pytest.approx(
        rebound(0.4), abs=1e-9
    )


def test_without_keys_everything_is_as_it_was():
    m = kp.build(ball())
    assert speed(m) == pytest.approx(-GRAVITY * (1.0 + AFTER), abs=1e-9)
    assert speed(m, limits="bounce") == pytest.approx(rebound(0.5), abs=1e-9)
    assert ball().description().limits == ""
    assert "limits" not in kp.to_toml(ball().description())


def test_each_joint_has_its_own_restitution():
    builder = kp.Builder("balls", gravity=[0, 0, -GRAVITY], limits="bounce")
    for name, e in (("a", 0.3), ("b", 0.9)):
        builder.link(f"ball {name}", mass=1.0, inertia=[1, 1, 1])
        builder.joint(name, "prismatic", "ground", f"ball {name}", axis="z", lower=0.0, restitution=e)
    run = kp.simulate(kp.build(builder), [HEIGHT, HEIGHT], [0.0, 0.0], duration=1.0 + AFTER)
    assert run.qd[-1] == pytest.approx([rebound(0.3), rebound(0.9)], abs=1e-9)


def test_a_stop_has_its_restitution():
    builder = ball(limits="bounce").stop("floor", joint="z", slides=True, lower=1.8, restitution=0.25)
    run = kp.simulate(kp.build(builder), {"z": HEIGHT}, {}, duration=1.0)
    assert run.events[0].name == "floor at its lower limit"
    before, after = np.sqrt(2.0 * GRAVITY * (HEIGHT - 1.8)), run.events[0].qd[0]
    assert after == pytest.approx(0.25 * before, abs=1e-9)


def test_files_keep_limits_and_the_command_follows_them(tmp_path, capsys):
    description = ball(limits="bounce", restitution=0.25).description()
    path = tmp_path / "ball.toml"
    kp.write_toml(description, path)
    assert kp.load(path).model.description == description
    for options, end in (((), rebound(0.25)), (("--limits", "ignore"), -GRAVITY * (1.0 + AFTER))):
        words = ["simulate", str(path), "--q", str(HEIGHT), "--duration", str(1.0 + AFTER), "--json"]
        assert main([*words, *options]) == 0
        result = json.loads(capsys.readouterr().out)
        assert result["samples"]["qd"][-1] == pytest.approx([end], abs=1e-9)
