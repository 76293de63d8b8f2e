"""Whether masking would accept a column and a scheme, found out without drawing anything."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from condmask.disclosure.audit import audit
from condmask.disclosure.audit_result import Audit
from condmask.errors import heard
from condmask.frames import Labels
from condmask.schemes.prepare import prepare


class Gate(NamedTuple):
    """A column as given for masking, with gaps and codes, and its strata."""

    x: np.ndarray
    kind: str
    labels: Sequence[Labels]

    def refusal(self, scheme: Any) -> str | None:
        """Why masking refuses the column under a scheme, in its own words; None if it accepts."""
        try:
            with heard():  # a warning is no refusal
                prepare(
                    {"x": scheme}, {"x": self.x}, {"x": self.kind}, labels=self.labels,
                    nan_policy="omit",
                )  # fmt: skip
        except ValueError as error:
            return str(error)
        return None

    def audit(self, scheme: Any) -> Audit:
        """The audit of the column under a scheme, with its proposals."""
        strata = [np.asarray(labels.distinct)[labels.code] for labels in self.labels]
        return audit(self.x, scheme, strata=strata if len(strata) > 1 else strata[0] if strata else None)
