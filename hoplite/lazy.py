"""Values made on first use: properties and regular expressions.

Up to Python 3.11, `functools.cached_property` computes under one lock per property, shared by all objects. A process
forked meanwhile would wait for it forever. Since 3.12 two threads may compute the same value, as here.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:
        """A method whose result replaces it among the attributes of the object."""

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


class _LazyPattern:
    """Compiled on first use; from then on its methods are those of the pattern."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self._text, self._flags)
        vars(self).update((method, getattr(compiled, method)) for method in _METHODS)
        return getattr(compiled, name)


_METHODS = ("findall", "finditer", "flags", "fullmatch", "match", "pattern", "search", "split", "sub", "subn")


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, but compiled on first use: the regular expressions of all modules took a tenth of a second."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))
