"""Python runs this first in processes that tests start while KINPAIR_TEST_TARGET is set."""

from instruction_set import compiling_for_target

target = compiling_for_target()
target.__enter__()
