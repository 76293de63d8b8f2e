"""Pictures of a report. Oracle: the points of their lines."""

import leaks

from condmask.reports import charts
from condmask.reports.release_view import ReleaseView


def test_no_line_of_the_original_is_in_a_public_picture(files, public):
    folder, frame = files
    view = ReleaseView(folder / "released.parquet", 1)
    estimate, z = view.release["income"], view.masked("income")
    with_it = charts.distributions(estimate, z, frame.income.to_numpy(), "population")
    without = charts.distributions(estimate, z)
    shared = set().union(*leaks.places(without))
    own = [line - shared for line in leaks.places(with_it)]
    (curve,) = [line for line in own if len(line) > 50]  # the only line of many points that is there with it

    assert without in public
    assert not curve & set().union(*leaks.places(public))
    assert "<metadata" not in public
    assert "base64" not in public  # all pictures are text, and searched
