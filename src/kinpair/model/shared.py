"""Values made once for all parts that have the same data: the links of a chain share their arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Shared(Generic[Value]):
    """Values by what they are made of; a key that cannot be hashed, such as a list, has a value of its own.

    An object that goes into a key by its `id` has to outlive the keys: `keep` takes it.
    """

    __slots__ = ("_kept", "_values")

    def __init__(self) -> None:
        self._values: dict[Hashable, Value] = {}
        self._kept: list[object] = []

    def of(self, key: Hashable, make: Callable[..., Value], *arguments: object) -> Value:
        """Return the value of a key: make(*arguments) where the key is new."""
        try:
            return self._values[key]
        except KeyError:
            return self._values.setdefault(key, make(*arguments))
        except TypeError:
            value = make(*arguments)
            self._kept.append(value)
            return value

    def by_identity(self, make: Callable[..., Value], *arguments: object) -> Value:
        """Return make(*arguments), one value for the same objects."""
        key = tuple(map(id, arguments))
        value = self._values.get(key)
        if value is None:
            self._kept.append(arguments)
            value = self._values[key] = make(*arguments)
        return value
