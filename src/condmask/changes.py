"""Changes of a call that settle a finding: the remedy of a message as data, and in words.

A message names the same change that ``fix=True`` makes, so that the two never differ.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Change(NamedTuple):
    """Arguments to pass instead of those of a call.

    Attributes
    ----------
    drop : tuple of str
        Columns that are not released.
    mask : tuple of str
        Columns to mask in the same call, where schemes are chosen by the data.
    schemes : dict of str to scheme
        The schemes of all masked columns, in place of those of the call; empty for the same.
    shuffle : bool
        Whether rows are released in a new order.
    rare_gaps : bool
        Whether records are left out whose gaps too few others share.
    no_strata : bool
        Whether strata are left out.
    missing : tuple
        Codes of missing values.
    omit : bool
        Whether missing values are left missing.
    """

    drop: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    schemes: Mapping[str, Any] = {}
    shuffle: bool = False
    rare_gaps: bool = False
    no_strata: bool = False
    missing: tuple[Any, ...] = ()
    omit: bool = False

    def in_words(self, names: Sequence[str] = ()) -> str:
        """Return the arguments as in Python, after "pass"; empty if nothing changes.

        Parameters
        ----------
        names : sequence of str
            The masked columns, where these were given by name alone.
        """
        words = []
        if self.mask and names:
            words.append(f"schemes={[*names, *self.mask]!r}")
        elif self.schemes:
            full = ", ".join(f"{name!r}: cm.{scheme!r}" for name, scheme in self.schemes.items())
            words.append(f"{{{full}}}")
        if self.drop:
            words.append(f"drop={[*self.drop]!r}")
        if self.shuffle:
            words.append("shuffle=True")
        if self.rare_gaps:
            words.append('rare_gaps="drop"')
        if self.omit:
            words.append('nan_policy="omit"')
        if self.missing:
            words.append(f"missing={[*self.missing]!r}")
        passed = f"pass {', '.join(words)}" if words else ""
        left_out = "leave strata out" if self.no_strata and not self.schemes else ""
        return ", and ".join(filter(None, (left_out, passed)))

    def with_more(self, other: "Change") -> "Change":
        """Return both changes in one."""
        return Change(
            (*self.drop, *(name for name in other.drop if name not in self.drop)),
            (*self.mask, *(name for name in other.mask if name not in self.mask)),
            other.schemes or self.schemes,
            self.shuffle or other.shuffle,
            self.rare_gaps or other.rare_gaps,
            self.no_strata or other.no_strata,
            (*self.missing, *(code for code in other.missing if code not in self.missing)),
            self.omit or other.omit,
        )
