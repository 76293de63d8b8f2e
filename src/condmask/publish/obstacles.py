"""Collect the problems of a release: those of the data, and those of writing it."""

from typing import NoReturn

from condmask.errors import ArgumentError, Refusals, ReleaseWarning, warn


class Obstacles:
    """Collect all problems of a release until they are raised together.

    Attributes
    ----------
    data : Refusals
        Problems that refuse a release and a dry run.
    writing : Refusals
        Problems that refuse a release alone.
    dry_run : bool
    """

    def __init__(self, *, dry_run: bool) -> None:
        self.data: Refusals = Refusals()
        self.writing: Refusals = Refusals()
        self.dry_run = dry_run

    def raise_all(self) -> None:
        """Raise one error that names all problems; in a dry run, warn of obstacles to writing
        first."""
        if self.dry_run:
            for error in self.writing.errors:
                warn(f"the release would be refused: {error}", ReleaseWarning, about=str(error))
        else:
            self.data.errors = [*self.writing.errors, *self.data.errors]
        self.writing = Refusals()
        self.data.raise_all()

    def stop(self) -> NoReturn:
        """Raise the error of all problems, of which there is at least one."""
        self.raise_all()
        raise ArgumentError("nothing was released")  # not reached: there was a problem
