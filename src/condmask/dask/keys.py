"""The key of a release on the machines that mask: sent apart from the tasks, never in them.

Tasks name their key; the process that runs them looks it up. It got the key from the scheduler, which hands
it to every worker, those that come later included, as a plugin: a `KeyTransport`, which shows itself nowhere.
So no graph, log or dashboard has it. It travels as everything on that cluster does: use TLS.
"""

import weakref
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

from distributed import Client, Worker, WorkerPlugin, default_client

from condmask._randomness import Key, KeyTransport, group_name
from condmask.errors import ArgumentTypeError, StateError

MUST_AGREE = ("condmask", "numpy", "randomgen")  # with other versions, a row may get other noise


class _Held(NamedTuple):
    """A key in this process, and the versions that must agree to draw from it."""

    key: KeyTransport
    versions: dict[str, str]


_held: dict[str, _Held] = {}


class KeyPlugin(WorkerPlugin):
    """Brings a key to the workers, and removes it again."""

    def __init__(self, name: str, held: _Held) -> None:
        self._name, self._key = name, held

    def setup(self, worker: Worker) -> None:
        """Add the key."""
        _held[self._name] = self._key

    def teardown(self, worker: Worker) -> None:
        """Remove the key."""
        _held.pop(self._name, None)


class HeldKey:
    """A key that tasks can look up by its name, as long as this object lives.

    Parameters
    ----------
    key : Key
    client : distributed.Client or None
        The workers that get it; None where this process is the only one.

    Attributes
    ----------
    name : str
        Random, and not secret.
    """

    def __init__(self, key: Key, client: Client | None) -> None:
        self.name = f"condmask-{group_name()}"
        self.withdraw = weakref.finalize(self, _withdraw, self.name, client)  # also where workers refuse it
        _held[self.name] = held = _Held(key.transport(), own_versions())
        if client is not None:
            client.register_plugin(KeyPlugin(self.name, held), name=self.name)

    def __reduce__(self) -> Any:
        raise ArgumentTypeError("a HeldKey cannot be pickled; tasks get its name")


def _withdraw(name: str, client: Client | None) -> None:
    _held.pop(name, None)
    if client is not None:
        with suppress(Exception):  # the cluster may be gone, and its workers with the key
            client.unregister_worker_plugin(name)


def key_of(name: str) -> Key:
    """The key of that name."""
    if name not in _held:
        raise StateError(
            "the key of this release is not in this process: mask with a distributed Client, or with Dask's "
            "threads, and keep the release while its frame is computed"
        )
    key, versions = _held[name]
    check_versions(versions)
    return key.open()


@cache
def own_versions() -> dict[str, str]:
    """The versions, in this process, of packages that must agree for equal draws."""
    return {package: version(package) for package in MUST_AGREE}


def check_versions(sent: dict[str, str]) -> None:
    """Refuse to draw with other versions than those of the client."""
    for package, own in own_versions().items():
        if own != sent[package]:
            raise StateError(
                f"{package} must have one version on all machines, got {own} on this worker and "
                f"{sent[package]} on the client"
            )


def client_of(client: Any) -> Client | None:
    """The client: by default the default one, None if there is none."""
    if client is not None:
        if not isinstance(client, Client):
            raise ArgumentTypeError(f"client must be a distributed.Client, got {type(client).__name__}")
        return _waiting(client)
    try:
        found: Client = default_client()
    except ValueError:
        return None
    return _waiting(found)


def _waiting(client: Client) -> Client:
    if client.asynchronous:
        raise ArgumentTypeError(
            "client must wait for its results, got an asynchronous one: make it without asynchronous=True, "
            "and call from a thread"
        )
    return client
