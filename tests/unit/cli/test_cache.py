"""`kinpair cache`."""

from __future__ import annotations

import pytest

from kinpair.cli.main import main
from kinpair.compiler.cache import Store


@pytest.fixture
def place(monkeypatch, tmp_path):
    monkeypatch.setenv("KINPAIR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_place_size_and_entries_are_shown(capsys, place, monkeypatch):
    monkeypatch.setenv("KINPAIR_CACHE_SIZE", "4M")
    for k in range(3):
        Store().put(str(k), bytes(1024 * 1024 // 2))
    assert main(["cache"]) == 0
    text = capsys.readouterr().out
    assert f"location: {place}" in text
    assert "entries: 3" in text
    assert "size: 1.5 MiB of at most 4.0 MiB" in text


def test_it_is_cleared(capsys, place):
    Store().put("a", b"x" * 1000)
    assert main(["cache", "--clear"]) == 0
    assert "entries removed: 1" in capsys.readouterr().out
    assert list(place.iterdir()) == []
    assert main(["cache"]) == 0
    assert "entries: 0" in capsys.readouterr().out


def test_where_there_is_no_cache_there_is_nothing(capsys, place):
    for words in (["cache"], ["cache", "--clear"]):
        assert main(words) == 0
    assert not place.exists()
    assert "entries removed: 0" in capsys.readouterr().out
