"""What a load warns about: one Python warning at the line that called, the whole list in `.warnings`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable

import pytest

import kinpair as kp
from kinpair import loading

LINK = '<link name="l{k}"><inertial><mass value="1"/>{inertia}</inertial></link>'
TENSOR = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
JOINT = '<joint name="j{k}" type="revolute"><parent link="base"/><child link="l{k}"/>{limit}</joint>'


def robot(warnings: int) -> str:
    """URDF with so many joints that lack their limit."""
    lines = ['<robot name="r"><link name="base"/>']
    for k in range(warnings):
        lines += [LINK.format(k=k, inertia=TENSOR), JOINT.format(k=k, limit="")]
    return "\n".join([*lines, "</robot>"])


def sentence(file: object, k: int) -> str:
    return f"{file}:{2 * k + 3}: joint 'j{k}' is revolute and has no <limit>; taken as unlimited"


def told(call: Callable[[], kp.Mechanism]) -> tuple[kp.Mechanism, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        built = call()
    return built, caught


@pytest.fixture
def file(tmp_path):
    return tmp_path / "robot.urdf"


def test_without_warnings_nothing_is_told(file):
    file.write_text(robot(0))
    built, caught = told(lambda: kp.load(file))
    assert (built.warnings, caught) == ((), [])


def test_one_doubt_is_the_warning_itself(file):
    file.write_text(robot(1))
    built, caught = told(lambda: kp.load(file))
    assert [str(x.message) for x in caught] == [sentence(file, 0)] == list(built.warnings)


def test_a_few_are_one_warning_with_their_count(file):
    file.write_text(robot(2))
    built, caught = told(lambda: kp.load(file))
    assert built.warnings == (sentence(file, 0), sentence(file, 1))
    assert [str(x.message) for x in caught] == [
        f"{file}: 2 warnings: {sentence(file, 0)}; {sentence(file, 1)} (all in .warnings)"
    ]


def test_of_many_the_first_three_are_told(file):
    file.write_text(robot(40))
    built, caught = told(lambda: kp.load(file))
    assert built.warnings == tuple(sentence(file, k) for k in range(40))
    first = "; ".join(sentence(file, k) for k in range(3))
    assert [str(x.message) for x in caught] == [f"{file}: 40 warnings: {first}; ... (all in .warnings)"]


def two_warnings() -> kp.Builder:
    builder = kp.Builder("pair").link("a", mass=1.0, inertia=[1, 1, 1]).link("b", mass=1.0, inertia=[1, 1, 1])
    builder.joint("A", "helical", "ground", "a").joint("B", "helical", "a", "b")
    return builder


def test_what_comes_from_no_file_goes_by_its_name():
    _, caught = told(lambda: kp.build(two_warnings()))
    assert [str(x.message) for x in caught] == [
        "pair: 2 warnings: joint 'A' is helical with pitch 0: it turns and does not advance; taken as it is; "
        "joint 'B' is helical with pitch 0: it turns and does not advance; taken as it is (all in .warnings)"
    ]


def test_warnings_point_at_the_line_that_called(file, monkeypatch):
    file.write_text(robot(2))
    doubtful = kp.to_toml(two_warnings().description())
    monkeypatch.setattr(loading, "example_text", lambda name: doubtful)
    calls = (
        lambda: kp.load(file),
        lambda: kp.build(two_warnings()),
        lambda: kp.example("double-pendulum"),
    )
    for call in calls:
        _, (warning,) = told(call)
        assert (warning.filename, warning.lineno) == (__file__, inspect.getsourcelines(call)[1])
        assert warning.category is kp.DescriptionWarning


def test_strict_refuses_the_first(file):
    file.write_text(robot(3))
    with pytest.raises(kp.DescriptionError) as refused:
        kp.load(file, strict=True)
    assert str(refused.value) == sentence(file, 0)
