"""The command as a whole: what every command promises."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import kinpair
from kinpair.cli.main import COMMANDS, TASKS, main, module_of

COMMAND = (sys.executable, "-m", "kinpair")
NAMES = list(COMMANDS)


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f" {name} " in out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_list_says_of_each_command_what_its_docstring_does(name):
    command = getattr(importlib.import_module(module_of(name)), name)
    assert COMMANDS[name][1] == " ".join(command.__doc__.split("\n\n")[0].split())


@pytest.mark.parametrize("words", ["import kinpair", "from kinpair.cli.main import main; main(['--help'])"])
def test_start_and_help_import_no_mechanics_and_no_numpy(words):
    script = f"import sys; before = {{*sys.modules}}; {words}; print('|', *{{*sys.modules}} - before)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    loaded = {x for x in run.stdout.rpartition("|")[2].split() if x.split(".")[0] in ("kinpair", "numpy")}
    assert {x for x in loaded if not x.startswith("kinpair.cli")} <= {"kinpair", "kinpair.errors"}


def test_no_words_at_all_show_what_one_can_do_by_commands_that_exist(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"kinpair {kinpair.__version__}: dynamics of robots and mechanisms\n")
    assert {command.split()[1] for command in TASKS.values()} <= {*NAMES}
    assert all(f"{task} " in out and command in out for task, command in TASKS.items())


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(capsys, name):
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: kinpair {name} ")


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == kinpair.__version__


@pytest.mark.parametrize("words", [["--version", "--verbose"], ["--verbose", "--version"]])
def test_the_long_version_has_what_a_bug_report_needs(capsys, words):
    assert main(words) == 0
    facts = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert facts["kinpair"] == kinpair.__version__
    assert facts["numpy"] == np.__version__
    assert {"Python", "system", "processor", "cache", "llvmlite", "scipy"} <= facts.keys()


def test_a_fault_is_one_line_and_no_traceback(capsys, monkeypatch):
    def broken(file, **options):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("kinpair.cli.arguments.mechanism", broken)
    assert main(["info", "scara"]) == 1
    assert capsys.readouterr().err == (
        "kinpair: ZeroDivisionError: oh no; this is a bug in kinpair; please report it with the command\n"
    )


def test_the_module_runs_without_colour_into_a_pipe():
    run = subprocess.run([*COMMAND, "examples"], capture_output=True, check=True)
    assert run.stdout
    assert b"\x1b" not in run.stdout
    assert run.stderr == b""


def test_bad_input_ends_with_two_and_one_line():
    run = subprocess.run([*COMMAND, "info", "nothing"], capture_output=True, check=False, text=True)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith("kinpair: no file 'nothing'")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", [("examples",), ("examples", "kr5"), ("dynamics", "kr5", "--json")], ids=" ".join
)
def test_a_reader_that_has_gone_is_no_error(words):
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run([*COMMAND, *words], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (run.returncode, run.stderr) == (0, b"")


def test_a_terminal_without_unicode_gets_what_it_can_show():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run([*COMMAND, "info", "scara"], capture_output=True, check=True, env=environment)
    assert b"shoulder" in run.stdout
