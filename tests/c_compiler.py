"""A C compiler for the tests of exported code: the machine's own, or the one that `make test` installs without it."""

from __future__ import annotations

import shutil
import sys

CC = ["cc"] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
STRICT = [*CC, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
