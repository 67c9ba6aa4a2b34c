"""`dataclass` like that of `dataclasses`, but each method is compiled when it is first called.

    from hoplite.lazy_dataclass import dataclass

    @dataclass(frozen=True, slots=True)
    class Token: ...

The standard decorator writes and compiles the source of up to six methods for every class, which takes most of a
millisecond. There are hundreds of classes for syntax trees, plans and operators, of which a statement uses a few. A
class in use has compiled methods all the same, from its second instance. `dataclasses.fields`, `replace`, `asdict` and
`match` work with these classes, and either kind may inherit from the other. Fields are made by `dataclasses.field`, as
usual. Only the decorator options used here are supported; `InitVar` and `KW_ONLY` are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from copy import copy
    from dataclasses import MISSING, Field, FrozenInstanceError
    from reprlib import recursive_repr
    from types import MemberDescriptorType

    _OWN = "__own_fields__"
    _set = object.__setattr__

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True):
        """As `dataclasses.dataclass`."""
        if cls is None:
            return lambda decorated: _completed(decorated, frozen, slots, eq)
        return _completed(cls, frozen, slots, eq)

    def _completed(cls, frozen, slots, eq):
        own = {}  # name -> annotation, and a default, a Field or MISSING
        namespace = cls.__dict__
        for name, annotation in cls.__annotations__.items():
            if isinstance(annotation, str) and annotation.startswith(("ClassVar", "typing.ClassVar")):
                continue
            default = namespace.get(name, MISSING)
            if default.__class__.__hash__ is None:
                raise ValueError(f"the default of {name!r} is mutable: use default_factory")
            own[name] = annotation, default
        known = _inherited(cls) | own
        if slots:
            cls = _with_slots(cls, own, known)
        else:
            for name, (_, default) in own.items():
                if isinstance(default, Field):
                    if default.default is MISSING:
                        delattr(cls, name)
                    else:
                        setattr(cls, name, default.default)
        setattr(cls, _OWN, own)
        cls.__match_args__ = tuple(name for name, (_, given) in known.items() if _is_positional(given))
        cls.__dataclass_fields__ = _Description(cls)
        cls.__dataclass_params__ = _Parameters(cls, frozen, eq)
        _add_methods(cls, known, frozen, slots, eq)
        return cls

    def _inherited(cls):
        """The fields of all bases, the most basic first."""
        known = {}
        for base in cls.__mro__[-1:0:-1]:
            namespace = base.__dict__
            if _OWN in namespace:
                known |= namespace[_OWN]
            elif "__dataclass_fields__" in namespace:
                known |= {made.name: (made.type, made) for made in dataclasses.fields(base)}
        return known

    def _is_positional(given):
        return not isinstance(given, Field) or (given.init and given.kw_only is not True)

    def _with_slots(cls, own, known):
        """The class recreated: an existing one cannot be given slots."""
        taken = set()
        for base in cls.__mro__[1:-1]:
            listed = base.__dict__.get("__slots__", ())
            taken.update((listed,) if isinstance(listed, str) else listed)
        namespace = {name: value for name, value in cls.__dict__.items() if name not in own}
        namespace.pop("__dict__", None)
        namespace.pop("__weakref__", None)
        namespace["__slots__"] = tuple(name for name in known if name not in taken)
        qualified = cls.__qualname__
        made = type(cls)(cls.__name__, cls.__bases__, namespace)
        made.__qualname__ = qualified
        return made

    class _Description:
        """The fields as `dataclasses` describes them, made on demand."""

        __slots__ = ("cls",)

        def __init__(self, cls):
            self.cls = cls

        def __get__(self, instance, owner):
            cls = self.cls
            known = _inherited(cls) | cls.__dict__[_OWN]
            described = {name: _described(name, kind, given) for name, (kind, given) in known.items()}
            cls.__dataclass_fields__ = described
            return described

    class _Parameters:
        """The options as `dataclasses` stores them: it reads them when one of its classes inherits from one of ours."""

        __slots__ = ("cls", "eq", "frozen")

        def __init__(self, cls, frozen, eq):
            self.cls, self.frozen, self.eq = cls, frozen, eq

        def __get__(self, instance, owner):
            twin = dataclasses.make_dataclass("Twin", (), frozen=self.frozen, eq=self.eq)
            self.cls.__dataclass_params__ = twin.__dataclass_params__
            return twin.__dataclass_params__

    (_SAMPLE,) = dataclasses.fields(dataclasses.make_dataclass("Sample", ("field",)))

    def _described(name, kind, given):
        """A copy of a field from `dataclasses`, which sets attributes that only it can."""
        made = copy(_SAMPLE)
        made.name, made.type = name, kind
        if isinstance(given, Field):
            for option in ("default", "default_factory", "init", "repr", "hash", "compare", "metadata"):
                setattr(made, option, getattr(given, option))
            made.kw_only = given.kw_only is True
        else:
            made.default, made.kw_only = given, False
        return made

    # --- methods ------------------------------------------------------------------------------------------------

    def _add_methods(cls, known, frozen, slots, eq):
        namespace = cls.__dict__
        if "__init__" not in namespace:
            cls.__init__ = _deferred("__init__", cls, lambda: _make_init(cls, known, frozen))
        if "__repr__" not in namespace:
            cls.__repr__ = _deferred("__repr__", cls, lambda: _make_repr(known))
        has_hash = "__hash__" in namespace and not (namespace["__hash__"] is None and "__eq__" in namespace)
        if eq:
            if "__eq__" not in namespace:
                cls.__eq__ = _deferred("__eq__", cls, lambda: _make_eq(known))
            if not has_hash:
                cls.__hash__ = _deferred("__hash__", cls, lambda: _make_hash(known)) if frozen else None
        if frozen:
            cls.__setattr__, cls.__delattr__ = _refuse_assignment, _refuse_deletion
            if slots and "__getstate__" not in namespace:
                cls.__getstate__, cls.__setstate__ = _for_pickle(tuple(known))

    def _deferred(name, cls, make):
        def method(self, *arguments, **named):
            made = make()
            made.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, made)
            return made(self, *arguments, **named)

        method.__name__ = name
        return method

    def _written(name, parameters, lines, values):
        """A function with this source; `values` are the names that it may use."""
        source = f"def {name}({', '.join(['self', *parameters])}):\n " + "\n ".join(lines or ["pass"])
        exec(source, values)
        return values[name]

    _LITERALS = {list: "[]", dict: "{}"}  # these take less time than a call

    def _make_init(cls, known, frozen):
        values = {"_set": _set, "_MISSING": MISSING}
        positional, named, lines = [], [], []
        for name, (_, given) in known.items():
            default = given.default if isinstance(given, Field) else given
            factory = given.default_factory if isinstance(given, Field) else MISSING
            value, written = name, name
            if factory is not MISSING:
                values[f"_make_{name}"] = factory
                made = _LITERALS.get(factory, f"_make_{name}()")
                written = f"{name}=_MISSING"
                value = f"{made} if {name} is _MISSING else {name}"
            elif default is not MISSING:
                values[f"_default_{name}"] = default
                written = f"{name}=_default_{name}"
            if isinstance(given, Field) and not given.init:
                if factory is MISSING and default is MISSING:
                    continue
                value = made if factory is not MISSING else f"_default_{name}"
            else:
                (positional if _is_positional(given) else named).append(written)
            if not frozen:
                lines.append(f"self.{name} = {value}")
            elif isinstance(slot := getattr(cls, name, None), MemberDescriptorType):
                values[f"_set_{name}"] = slot.__set__  # takes half the time of object.__setattr__
                lines.append(f"_set_{name}(self, {value})")
            else:
                lines.append(f"_set(self, {name!r}, {value})")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        return _written("__init__", [*positional, *(["*", *named] if named else [])], lines, values)

    def _make_eq(known):
        names = [name for name, (_, given) in known.items() if not isinstance(given, Field) or given.compare]
        mine, others = ("".join(f"{whose}.{name}, " for name in names) for whose in ("self", "other"))
        line = f"return ({mine}) == ({others}) if other.__class__ is self.__class__ else NotImplemented"
        return _written("__eq__", ["other"], [line], {})

    def _make_hash(known):
        names = [
            name
            for name, (_, given) in known.items()
            if not isinstance(given, Field) or (given.compare if given.hash is None else given.hash)
        ]
        return _written("__hash__", [], [f"return hash(({''.join(f'self.{name}, ' for name in names)}))"], {})

    def _make_repr(known):
        names = [name for name, (_, given) in known.items() if not isinstance(given, Field) or given.repr]

        @recursive_repr()
        def __repr__(self):
            shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
            return f"{self.__class__.__qualname__}({shown})"

        return __repr__

    def _refuse_assignment(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_deletion(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _for_pickle(names):
        """The methods that read and set all fields; batches of rows travel between processes."""

        def read(self):
            return [getattr(self, name) for name in names]

        def restore(self, state):
            for name, value in zip(names, state, strict=True):
                _set(self, name, value)

        return read, restore
