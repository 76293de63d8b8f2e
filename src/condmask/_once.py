"""What is worked out once, whoever asks: one thread works while the others who ask for the same wait.

A lock belongs to an object and a name, and exists only while somebody holds it or waits for it. So objects
can be pickled at any time, two of them never wait for each other, and a forked process, in which one thread
goes on, waits for none of those that stayed behind.
"""

import os
from collections.abc import Hashable
from contextlib import AbstractContextManager
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar, overload
from weakref import WeakValueDictionary

T = TypeVar("T")


class _Locks:
    """The locks in use."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew in a forked process: those who held them are not there."""
        self._guard = RLock()  # entered again where the collection of garbage interrupts
        self._used: WeakValueDictionary[Hashable, AbstractContextManager[Any]] = WeakValueDictionary()

    def of(self, owner: object, name: Hashable) -> AbstractContextManager[Any]:
        with self._guard:
            return self._used.setdefault((id(owner), name), RLock())


_locks = _Locks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_locks.forget)


def alone(owner: object, name: Hashable) -> AbstractContextManager[Any]:
    """One thread at a time for this object and name; the same thread may enter again."""
    return _locks.of(owner, name)


class once(cached_property[T]):  # noqa: N801 - a decorator
    """A property that one thread works out, and that is kept.

    That of the standard library is worked out by several threads at once, which takes as many times the
    memory; in Python 3.11 it has one lock for all objects of a class, which a forked process may never get.
    """

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> "once[T]": ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> "once[T] | T":
        if instance is None:
            return self
        kept, name = vars(instance), str(self.attrname)
        with alone(instance, name):
            if name not in kept:
                kept[name] = self.func(instance)
            value: T = kept[name]
        return value
