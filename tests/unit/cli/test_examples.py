"""`kinpair examples`."""

from __future__ import annotations

import kinpair as kp
from kinpair.cli.main import main


def test_every_example_is_listed_with_its_line(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["examples"]) == 0
    out = capsys.readouterr().out
    for name, line in kp.examples().items():
        assert name in out
        assert line in out


def test_an_example_is_printed_ready_to_be_loaded(capsys, tmp_path):
    assert main(["examples", "stanford-arm"]) == 0
    file = tmp_path / "my.toml"
    file.write_text(capsys.readouterr().out)
    assert file.read_text() == kp.example_text("stanford-arm")
    assert kp.load(file).q_names == kp.example("stanford-arm").q_names
