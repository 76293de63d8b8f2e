"""What is sent to other processes in tests of studies: it must be in a module that these can import."""

import os
import pickle
import signal
from pathlib import Path


def travelling(function, tasks):
    """A map as a pool of processes has it: all that a task needs, and what comes of it, is pickled."""
    for task in tasks:
        here, given = pickle.loads(pickle.dumps((function, task)))
        yield pickle.loads(pickle.dumps(here(given)))


class Population:
    """Normal values, which count how often they are sent."""

    sent = 0

    def __call__(self, rng, replications, n):
        return rng.normal(10.0, 1_000.0, (replications, n))

    def __getstate__(self):
        type(self).sent += 1
        return {}


class Killing(Population):
    """The first processes besides this one that draw from it are killed, as many as there are places."""

    def __init__(self, places):
        self.places, self.spared = [Path(place) for place in places], os.getpid()

    def __getstate__(self):
        return vars(self)

    def __call__(self, rng, replications, n):
        if os.getpid() != self.spared:
            for place in self.places:
                try:
                    place.touch(exist_ok=False)
                except FileExistsError:
                    continue
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(rng, replications, n)


def fail(transport, task):
    if task == 2:
        raise ValueError(f"task {task} with {transport!r}")
    return task


def second(first, task):
    return task


class Unreadable:
    """Sent with a text, it cannot be made again."""

    def __init__(self, text):
        self.text = text

    def __reduce__(self):
        return refuse, (self.text,)


def refuse(text):
    raise ValueError("it cannot be read")
