"""Environments of Gymnasium: a motion of a vector environment is that of a single one, to the last bit."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import kinpair as kp

TASKS = ("cart-pole", "double-pendulum", "reacher", "five-bar", "diff-drive")
COUNT = 3


@pytest.mark.parametrize("task", TASKS)
def test_the_checker_of_gymnasium_reports_nothing(task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(kp.gymnasium.make(task, render_mode=None), skip_render_check=task != "cart-pole")


def both(task: str, mode: AutoresetMode, **options):
    many = kp.gymnasium.make_vec(task, COUNT, autoreset_mode=mode, **options)
    single = [lambda: kp.gymnasium.make(task, **options)] * COUNT
    return many, SyncVectorEnv(single, autoreset_mode=mode)


def same(found, expected) -> None:
    for x, y in zip(found[:4], expected[:4], strict=True):
        assert x.dtype == y.dtype
        assert np.array_equal(x, y)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("task", TASKS)
def test_a_vector_environment_is_its_single_ones(task, mode):
    many, single = both(task, mode)
    assert many.metadata["autoreset_mode"] is mode
    start, other = many.reset(seed=3)[0], single.reset(seed=3)[0]
    assert np.array_equal(start, other)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(230 if task in ("cart-pole", "reacher") else 20):
        actions = rng.uniform(-1.0, 1.0, many.action_space.shape)
        result, expected = many.step(actions), single.step(actions)
        same(result, expected)
        if "final_obs" in expected[4]:
            for x, y in zip(result[4]["final_obs"], expected[4]["final_obs"], strict=True):
                assert (x is None) == (y is None)
                assert x is None or np.array_equal(x, y)
        ends += int(result[2].sum() + result[3].sum())
    assert ends > 0 or task not in ("cart-pole", "reacher")


def test_motions_are_reset_by_a_mask_where_nothing_is_reset_by_itself():
    many, single = both("cart-pole", AutoresetMode.DISABLED)
    many.reset(seed=5)
    single.reset(seed=5)
    push = np.ones(many.action_space.shape)
    for _ in range(100):
        result, expected = many.step(push), single.step(push)
        same(result, expected)
        done = result[2] | result[3]
        if done.any():
            break
    with pytest.raises(kp.InputError, match="are at their end; reset them by"):
        many.step(push)
    found = many.reset(options={"reset_mask": done})[0]
    assert np.array_equal(found, single.reset(options={"reset_mask": done})[0])
    same(many.step(push), single.step(push))


def test_names_are_registered():
    assert {"kinpair/CartPole-v0", "kinpair/DiffDrive-v0"} <= set(gymnasium.registry)
    environment = gymnasium.make("kinpair/Reacher-v0", frame=None)
    assert environment.reset(seed=1)[0].shape == (9,)
    many = gymnasium.make_vec("kinpair/CartPole-v0", num_envs=2, vectorization_mode="vector_entry_point")
    assert many.reset(seed=1)[0].shape == (2, 4)


def test_a_mechanism_of_your_own():
    arm = kp.example("scara")
    environment = kp.gymnasium.make("reacher", arm, effort=20.0)
    first, _ = environment.reset(seed=2)
    second, reward, *_ = environment.step(np.ones(arm.nv))
    assert environment.action_space.shape == (arm.nv,)
    assert not np.array_equal(first, second)
    assert reward < 0.0


def test_pictures():
    environment = kp.gymnasium.make("cart-pole", render_mode="rgb_array")
    environment.reset(seed=1)
    image = environment.render()
    assert image.shape == (360, 480, 3)
    assert image.dtype == np.uint8
    assert image.std() > 5.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: kp.gymnasium.make("cartpole"),
            "no task 'cartpole'; did you mean 'cart-pole'? Tasks: cart-pole, ",
        ),
        (
            lambda: kp.gymnasium.make_vec("cart-pole", 10**12),
            "cart-pole: num_envs is 1000000000000, which needs about ",
        ),
        (
            lambda: kp.gymnasium.make("cart-pole", kp.example("scara")),
            "scara: the task drives slide, which is not a rate of this mechanism; rates: ",
        ),
        (
            lambda: kp.gymnasium.make("reacher", kp.example("motor-arm")),
            "motor-arm: the task needs efforts on ",
        ),
        (
            lambda: kp.gymnasium.make("cart-pole", render_mode="ansi"),
            "render_mode is 'ansi'; modes: rgb_array",
        ),
        (
            lambda: kp.gymnasium.make_vec("cart-pole", 2, autoreset_mode="never"),
            "autoreset_mode is 'never'; modes: NextStep, SameStep, Disabled",
        ),
        (
            lambda: kp.gymnasium.make_vec("cart-pole", 2).reset(options={"reset_mask": [True, False]}),
            "reset_mask is [True, False]; give an array of 2 bools, at least one of them True",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(kp.InputError) as caught:
        call()
    assert str(caught.value).startswith(message)
