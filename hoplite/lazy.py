"""`cached_property` without a lock.

Up to Python 3.11, `functools.cached_property` holds one lock for a property of all objects while it computes. A process
that is forked meanwhile would wait for it for ever. Since 3.12 two threads may compute the same value, and here too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:
        """A method whose result takes its place among the attributes of the object."""

        def __init__(self, function: Any) -> None:
            self._function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            values = instance.__dict__
            if self._name not in values:
                values[self._name] = self._function(instance)
            return values[self._name]
