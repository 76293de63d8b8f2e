"""Listed faults still fit the source, and chosen changes leave it valid Python."""

import ast

import faults
import pytest


@pytest.mark.parametrize("room", faults.ROOMS)
def test_the_faults_of_a_room_fit_its_source(room):
    tried = [*faults.listed(room), *faults.sampled(room, 30, seed=1)]

    assert len(tried) > 30
    for fault in tried:
        ast.parse(fault.text())
        assert fault.text() != (faults.ROOT / fault.path).read_bytes()


def test_a_text_that_does_not_stand_there_once_is_no_fault():
    for was in ("self", "nothing of the kind"):
        with pytest.raises(ValueError, match=r"stands there \d+ times, not once"):
            faults.put_in("law.py", was, "one", "a reason")
