"""A key is with those who mask, and nowhere else to be found.

Oracle: the bytes of the key, searched for in all that a cluster tells of itself.
"""

import asyncio
import gc
import pickle

import pytest
from distributed import Client

from condmask._randomness import Key
from condmask.dask import keys
from condmask.dask.keys import HeldKey, client_of, key_of

SECRET = bytes(range(60, 76))


def words(key):
    return key.stream(3, 1).integers(0, 2**64, 4, dtype="uint64").tolist()


def test_a_key_is_found_by_its_name_while_it_is_held():
    held = HeldKey(Key(SECRET), None)
    name = held.name
    assert words(key_of(name)) == words(Key(SECRET))
    del held
    gc.collect()
    with pytest.raises(RuntimeError, match="not in this process"):
        key_of(name)


def test_what_holds_a_key_neither_travels_nor_tells():
    held = HeldKey(Key(SECRET), None)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(held)
    shown = repr(held) + repr(vars(held)) + repr(keys._held) + held.name
    for form in (SECRET.hex(), repr(SECRET), str(int.from_bytes(SECRET, "little"))):
        assert form not in shown


def test_other_versions_are_refused_by_name(monkeypatch):
    held = HeldKey(Key(SECRET), None)
    key, versions = keys._held[held.name]
    monkeypatch.setitem(keys._held, held.name, keys._Held(key, {**versions, "randomgen": "0.1"}))
    with pytest.raises(RuntimeError, match=r"randomgen must have one version .* and 0\.1 on"):
        key_of(held.name)


def test_a_client_is_one_or_none():
    assert client_of(None) is None
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client, got int"):
        client_of(3)


def test_a_client_that_does_not_wait_is_refused(client):
    async def asynchronous():
        async with Client(client.scheduler.address, asynchronous=True) as other:
            with pytest.raises(TypeError, match="got an asynchronous one"):
                client_of(other)

    asyncio.run(asynchronous())


def test_a_key_that_workers_do_not_take_is_held_nowhere():
    class Gone:
        def register_plugin(self, plugin, name):
            raise OSError("the cluster is gone")

    before = set(keys._held)
    with pytest.raises(OSError, match="gone"):
        HeldKey(Key(SECRET), Gone())
    gc.collect()
    assert set(keys._held) == before


def drawn(name):
    return words(key_of(name))


@pytest.mark.slow
def test_workers_have_the_key_also_those_that_come_later_and_lose_it(client):
    held = HeldKey(Key(SECRET), client)
    name = held.name
    assert set(map(tuple, client.run(drawn, name).values())) == {tuple(words(Key(SECRET)))}
    client.restart_workers(list(client.scheduler_info(n_workers=-1)["workers"])[:1])
    assert client.submit(drawn, name, pure=False).result() == words(Key(SECRET))
    assert len(client.run(drawn, name)) == 2
    del held
    gc.collect()
    with pytest.raises(RuntimeError, match="not in this process"):
        client.submit(drawn, name, pure=False).result()


def test_nothing_that_a_cluster_tells_holds_the_key(client, tmp_path):
    held = HeldKey(Key(SECRET), client)
    client.submit(drawn, held.name, pure=False).result()
    client.dump_cluster_state(str(tmp_path / "state"), format="yaml")
    logs = f"{client.get_scheduler_logs()}{client.get_worker_logs()}{client.get_events()}"
    told = (tmp_path / "state.yaml").read_bytes() + logs.encode()
    assert held.name.encode() in told  # the dump has tasks and their arguments
    for form in (SECRET, SECRET.hex().encode(), repr(SECRET).encode()[2:-1], repr(list(SECRET)).encode()):
        assert form not in told
