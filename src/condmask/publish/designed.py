"""Maps the masked columns of a release to estimates under a sampling design."""

from collections.abc import Iterator, Mapping

from condmask.designs.design import Design
from condmask.estimates.designed import DesignEstimate
from condmask.publish.release import Release


class DesignedRelease(Mapping[str, DesignEstimate]):
    """Maps masked columns to the estimates of their originals under one sampling design.

    Parameters
    ----------
    release : Release
    design : Design

    Attributes
    ----------
    release : Release
    design : Design
    """

    def __init__(self, release: Release, design: Design) -> None:
        self.release = release
        self.design = design
        self._estimates: dict[str, DesignEstimate] = {}

    def __getitem__(self, column: str) -> DesignEstimate:
        if column not in self._estimates:
            self._estimates[column] = self.release[column].with_design(self.design)
        return self._estimates[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.release)

    def __len__(self) -> int:
        return len(self.release)

    def __repr__(self) -> str:
        return f"DesignedRelease({self.release!r}, {self.design!r})"
