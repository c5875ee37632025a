"""Tests of libraries that have environments of their own: `make test-torch` and `make test-jax`."""

from importlib.util import find_spec

collect_ignore = [f"test_{name}.py" for name in ("torch", "jax") if find_spec(name) is None]
