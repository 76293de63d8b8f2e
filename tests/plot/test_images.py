"""Every public picture against a small image of it, without letters. Oracle: images that were looked at.

``python tests/pictures.py`` stores them anew.
"""

import numpy as np
import pytest
from marks import rest_slow
from pictures import FOLDER, PICTURES, drawn, stored

# Root of the mean squared difference of greys, 0 to 255. matplotlib 3.9.4 and 3.11.2 differ by .14, which is
# what rounding to whole greys makes; without any one line, marker or bar it is .4 or more (below).
TOLERANCE = 0.3
HIDDEN = {"reverse_mapping": ["95% band for the original file"]}  # of no width: the estimate is exact


def distance(image, other):
    """Without the last squares at an edge: versions of matplotlib round the size of a figure differently."""
    rows, columns = np.minimum(image.shape, other.shape)
    assert np.abs(np.subtract(image.shape, other.shape)).max() <= 1
    return np.sqrt(np.mean((image[:rows, :columns] - other[:rows, :columns]) ** 2))


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_was(name):
    assert distance(drawn(name), stored(name)) <= TOLERANCE


@pytest.mark.parametrize("name", rest_slow(PICTURES))
def test_a_picture_without_a_part_of_it_is_another_one(name):
    """Each line, marker, bar and band in turn; of series without values there is nothing to miss."""
    count, seen = 1, 0
    while seen < count:
        removed = []

        def without_one(axes, place=seen, removed=removed):
            nonlocal count
            parts = [part for panel in axes for part in (*panel.lines, *panel.collections)]
            count = len(parts)
            removed += [parts[place].get_label(), is_empty(parts[place])]
            parts[place].remove()

        image = drawn(name, without_one)
        label, empty = removed
        assert empty or label in HIDDEN.get(name, []) or distance(image, stored(name)) > TOLERANCE, label
        seen += 1
    assert count >= 4


def is_empty(part):
    """Whether a part has no finite value."""
    if hasattr(part, "get_xydata"):
        return not np.isfinite(part.get_xydata()).all(axis=1).any()
    return not any(np.isfinite(path.vertices).all() for path in part.get_paths())


def test_images_are_small_and_of_nothing_else():
    files = list(FOLDER.iterdir())

    assert {file.stem for file in files} == set(PICTURES)
    assert sum(file.stat().st_size for file in files) < 100_000
