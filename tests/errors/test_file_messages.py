"""Files that cannot be read, and what is said about them."""

from __future__ import annotations

import pytest

import kinpair as kp


def message(path) -> str:
    with pytest.raises(kp.DescriptionError) as caught:
        kp.load(path)
    return str(caught.value).replace(str(path.parent), "DIR")


@pytest.mark.parametrize("ending", ["urdf", "toml", "csv"])
def test_empty_file(tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    path.write_text(" \n")
    assert message(path) == f"DIR/m.{ending}: is empty"


@pytest.mark.parametrize("ending", ["urdf", "toml", "csv"])
def test_not_utf8(tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    path.write_bytes(b"a\nb = '\xff'")
    assert message(path) == f"DIR/m.{ending}:2: is not UTF-8 text (byte 0xff); save it as UTF-8"


def test_directory(tmp_path):
    for name in ("m.urdf", "robots"):
        (tmp_path / name).mkdir()
        assert message(tmp_path / name) == f"DIR/{name}: is a directory; give the file in it"


def test_a_root_of_neither_form(tmp_path):
    path = tmp_path / "m.xml"
    path.write_text("<html/>")
    assert message(path) == (
        "DIR/m.xml:1: is not URDF or MJCF: its root is <html>, and should be <robot> or <mujoco>"
    )


def test_missing_file(tmp_path):
    assert message(tmp_path / "m.urdf") == "DIR/m.urdf: no such file"


def test_unknown_ending(tmp_path):
    path = tmp_path / "m.docx"
    path.write_text("x")
    assert (
        message(path) == "DIR/m.docx: files named *.docx are not read; kinpair reads .urdf, .xml, .toml, .csv"
    )


def test_file_without_an_ending(tmp_path):
    path = tmp_path / "robot"
    path.write_text("x")
    assert message(path) == (
        "DIR/robot: files without an ending are not read; kinpair reads .urdf, .xml, .toml, .csv"
    )


def test_binary_file(tmp_path):
    path = tmp_path / "m.toml"
    path.write_bytes(bytes(range(256)))
    assert message(path) == "DIR/m.toml:2: is not UTF-8 text (byte 0x80); save it as UTF-8"
