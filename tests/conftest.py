"""Where compiled code of the tests is kept, for which instruction set it is compiled, and how many threads BLAS has;
what a module leaves behind."""

from __future__ import annotations

import gc
import os

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # workers share the cores; small systems only wait for more threads

# workers and processes that tests start find modules that another one has compiled; else each compiles all of them
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ.setdefault("KINPAIR_WAIT", "1")  # first calls are those of machine code

import pytest
from hypothesis import settings

from instruction_set import VARIABLE, compiling_for_target, subprocesses_too

for name, count in (("usual", 40), ("long", 150)):
    settings.register_profile(name, deadline=None, derandomize=True, max_examples=count)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("usual" if config.option.markexpr == "not long" else "long")
    try:
        target = compiling_for_target()
    except ValueError as problem:
        raise pytest.UsageError(str(problem)) from None
    target.__enter__()
    config.add_cleanup(lambda: target.__exit__(None, None, None))
    if VARIABLE in os.environ:
        subprocesses_too()


@pytest.fixture(scope="session", autouse=True)
def _own_cache(pytestconfig):
    """One directory for all workers and all runs of a checkout: entries are whole or absent, whoever writes them."""
    directory = (
        pytestconfig.rootpath / "build" / "test-cache" / "code"
    )  # its parent may be a link that checkouts share
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINPAIR_CACHE", str(directory))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_progress_on_slow_machines():
    """Standard error does not depend on the clock: progress is printed only where a test sets the time it waits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kinpair.compiler.patience.PATIENCE", 1e6)
        yield


def pytest_collection_finish() -> None:
    gc.freeze()  # test items live to the end: no collection of garbage need look at them
    gc.set_threshold(20_000)  # formulas are made by the hundred thousand, without cycles


@pytest.fixture(scope="module", autouse=True)
def _nothing_left_behind(request):
    """Mechanisms that the tests of a module share go with its last test: a full collection of garbage looks at all that
    is kept, and takes seconds where that is every mechanism of the suite."""
    yield
    for shared in vars(request.module).values():
        if getattr(shared, "__module__", "") == request.module.__name__ and hasattr(shared, "cache_clear"):
            shared.cache_clear()
