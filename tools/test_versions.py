"""Run test_tiny on several versions of Python; PYTHONS="python3.11 python3.13" of `make test-versions` names them.

Without names, those of 3.11 to 3.14 and 3.14t on PATH and under pyenv. Each gets an environment of its own in build/.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
ROOT = Path(__file__).parents[1]
CALLS = "import kinpair as kp; m = kp.example('scara'); [m.mass_matrix(m.start()) for _ in range(3)]"


def interpreters() -> dict[str, str]:
    """Interpreters by version."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    places = {
        version: [*sorted(map(str, pyenv.glob(f"{version}.*/bin/python"))), shutil.which(f"python{version}")]
        for version in VERSIONS
    }
    return {version: next(x for x in found if x) for version, found in places.items() if any(found)}


def version(python: str) -> str:
    """Version of an interpreter, as 3.13."""
    code = "import sys; print(*sys.version_info[:2], sep='.')"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def passed(name: str, python: str) -> bool:
    """True if the tests pass in a new environment of this interpreter."""
    folder = ROOT / "build" / f"versions-{name}"
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    commands = (
        [python, "-m", "venv", "--clear", str(folder)],
        [
            str(inside),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            f"{ROOT}[view,symbolic]",
            "pytest",
            "hypothesis",
        ],
        [str(inside), "-c", CALLS],
        [str(inside), "-m", "pytest", "-p", "no:cacheprovider", "tests/test_tiny.py"],
    )
    return all(subprocess.run(command, cwd=ROOT, check=False).returncode == 0 for command in commands)


def main(names: list[str]) -> int:
    """Test each interpreter; return 0 if all pass."""
    chosen = {version(x): x for x in names} or interpreters()
    results = {name: passed(name, python) for name, python in chosen.items()}
    for name, result in results.items():
        print(f"{name}: {'passed' if result else 'failed'}")
    absent = [] if names else [version for version in VERSIONS if version not in chosen]
    print(f"absent: {', '.join(absent) or 'none'}")
    return 0 if results and all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
