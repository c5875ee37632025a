"""`kinpair transfer`: three ways beside each other."""

from __future__ import annotations

import json

from kinpair.cli.main import main


def test_three_ways_are_told_and_drawn(capsys, tmp_path):
    file = tmp_path / "waves.png"
    assert main(f"transfer vessel-arm --settle 0 --plot {file}".split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["vessel-arm", "aligned", "upright", "shaped", "picture"]
    assert file.read_bytes()[:4] == b"\x89PNG"
    assert main("transfer vessel-arm --settle 0 --height 0.105 --json".split()) == 0
    x = json.loads(capsys.readouterr().out)
    assert not x["aligned"]["spills"]
    assert x["upright"]["spills"]
    assert x["aligned"]["peak"] < x["upright"]["peak"] / 10
