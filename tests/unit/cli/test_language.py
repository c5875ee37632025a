"""The command in Chinese: how it is chosen, what is translated, and what is not."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from kinpair.cli import screen
from kinpair.cli.main import COMMANDS, main
from kinpair.cli.screen import speaking, table, translated

SHOWN = (  # commands whose summaries are looked at
    [],
    ["--help"],
    *([name, "--help"] for name in COMMANDS),
    ["check", "four-bar"],
    ["info", "double-pendulum"],
    ["info", "four-bar"],
    ["dynamics", "double-pendulum", "--q", "0.1,0.2"],
    ["simulate", "double-pendulum", "--duration", "0.1"],
    ["simulate", "four-bar", "--duration", "0.1"],
)
UNTRANSLATED = {  # all else that stays in English
    "double-pendulum",  # names
    "four-bar",
    "q",  # symbols
    "qd",
    "qdd",
    *("nx", "ny", "nz", "fx", "fy", "fz"),
}


@pytest.fixture
def missing(monkeypatch) -> set[str]:
    """English sentences that the table does not have."""
    found: set[str] = set()
    look_up = screen._sentence

    def recorded(english: str) -> str | None:
        chinese = look_up(english)
        in_english = re.search(r"[A-Za-z]", english) and not re.search(r"[\u4e00-\u9fff]", english)
        if chinese is None and in_english and ". " not in english:
            found.add(english)
        return chinese

    monkeypatch.setattr(screen, "_sentence", recorded)
    return found


def test_what_stays_in_english_is_listed(missing, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    for words in SHOWN:
        with pytest.MonkeyPatch.context() as quiet:
            quiet.setenv("KINPAIR_LANG", "zh")
            main(words)
    assert capsys.readouterr().out
    assert missing == UNTRANSLATED


def test_the_option_and_the_variable_choose_chinese_and_nothing_else_does(capsys, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.delenv("KINPAIR_LANG", raising=False)
    main(["check", "double-pendulum"])
    english = capsys.readouterr().out
    assert "no warnings" in english
    for words in (["--lang", "zh", "check", "double-pendulum"], ["check", "double-pendulum", "--lang=zh"]):
        assert main(words) == 0
        assert "没有警告" in capsys.readouterr().out
    monkeypatch.setenv("KINPAIR_LANG", "zh")
    main(["check", "double-pendulum"])
    assert "没有警告" in capsys.readouterr().out
    main(["--lang", "en", "check", "double-pendulum"])
    assert capsys.readouterr().out == english


def test_warnings_of_a_file_are_translated(tmp_path, capsys):
    file = tmp_path / "arm.urdf"
    file.write_text(
        """<robot name="arm"><link name="base"/>
        <link name="a"><inertial><mass value="1"/></inertial></link><link name="b"/>
        <joint name="j" type="revolute"><parent link="base"/><child link="a"/></joint>
        <joint name="k" type="prismatic"><parent link="a"/><child link="b"/><limit lower="1" upper="2"/>
        <mimic joint="none"/></joint></robot>""",
        "utf-8",
    )
    with pytest.raises(SystemExit):
        main(["--lang", "zh", "check", str(file)])
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("- ")]
    assert len(shown) >= 4
    assert [line for line in shown if not re.search(r"[\u4e00-\u9fff]", line)] == []


def test_an_unknown_language_is_refused(capsys):
    assert main(["--lang", "fr", "check", "double-pendulum"]) == 2
    assert capsys.readouterr().err == "kinpair: --lang: no language 'fr'; languages: en, zh\n"


def test_a_translation_has_the_places_of_its_sentence():
    for english, chinese in table().items():
        if "{}" in english:
            places = [field for _, field, _, _ in Formatter().parse(chinese) if field is not None]
            assert len(places) == english.count("{}"), english


def test_a_text_is_translated_sentence_by_sentence():
    with speaking("zh"):
        assert (
            translated("Reached t = 2 s. A sentence that is new.") == "到达 t = 2 s。A sentence that is new."
        )
        sampled = "x: 2 samples from t = 0 s to 1 s."
        paragraph = f"{sampled} Constraints hold to 3, their rates to 4. At the end stick: b since 0 s."
        chinese = "x：从 t = 0 s 到 1 s 共 2 个采样。约束满足到 3，其速度满足到 4。终了时粘着：b since 0 s。"
        assert translated(paragraph) == chinese
        assert translated("    → Check the value and its unit.") == "    → 请检查数值及其单位。"
    assert translated("no warnings") == "no warnings"
