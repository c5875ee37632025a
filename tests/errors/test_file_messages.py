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
        message(path)
        == "DIR/m.docx: files named *.docx are not read; kinpair reads .urdf, .xml, .sdf, .toml, .csv, .usd, .usda, "
        ".usdc, .usdz, .xacro"
    )


@pytest.mark.parametrize("what", [None, 3, ["m.toml"], b"m.toml"])
@pytest.mark.parametrize(
    ("call", "otherwise"),
    [
        (kp.load, "; kp.example('four-bar') is a bundled mechanism"),
        (kp.load_run, ""),
        (kp.resume, ""),
        (kp.open_sweep, "; give the folder of a sweep, its table or its journal"),
    ],
)
def test_what_is_no_path_is_refused_in_a_sentence(call, otherwise, what):
    with pytest.raises(kp.InputError) as caught:
        call(what)
    assert str(caught.value) == f"{call.__name__} takes the path of a file, not {what!r}{otherwise}"


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_gravity_is_a_vector(gravity):
    for call in (lambda x: kp.example("scara", gravity=x), lambda x: kp.Builder("m", gravity=x)):
        with pytest.raises(kp.DescriptionError) as caught:
            call(gravity)
        assert str(caught.value).endswith(f"gravity is {gravity}; give [x, y, z] in m/s², [0, 0, 0] for none")


def test_an_unknown_keyword_is_refused_with_the_nearest_one():
    arm = kp.example("double-pendulum")
    with pytest.raises(kp.InputError) as caught:
        kp.equations(arm, parameter="numbers")
    assert str(caught.value) == (
        "equations has no argument 'parameter'; did you mean 'parameters'? Arguments: mechanism, parameters, form, "
        "limit, seconds, passive, solver, dependent, symbols"
    )
    with pytest.raises(kp.InputError) as caught:
        kp.equations(arm, notation=True)
    assert str(caught.value).startswith(
        "equations has no argument 'notation'; arguments: mechanism, parameters, form"
    )
    for call in (kp.compare, kp.simulate, kp.build, lambda x, **keys: kp.example("scara", **keys)):
        with pytest.raises(kp.InputError, match=r"has no argument 'strikt'; (did you mean|arguments)"):
            call(arm, strikt=True)


def test_file_without_an_ending(tmp_path):
    path = tmp_path / "robot"
    path.write_text("x")
    assert message(path) == (
        "DIR/robot: files without an ending are not read; kinpair reads .urdf, .xml, .sdf, .toml, .csv, "
        ".usd, .usda, .usdc, .usdz, .xacro"
    )


def test_binary_file(tmp_path):
    path = tmp_path / "m.toml"
    path.write_bytes(bytes(range(256)))
    assert message(path) == "DIR/m.toml:2: is not UTF-8 text (byte 0x80); save it as UTF-8"
