"""Every public picture against a small image of it, without letters. Oracle: images that were looked at.

``python tests/pictures.py`` stores them anew.
"""

import numpy as np
import pytest
from pictures import PICTURES, drawn, stored

# Root of the mean squared difference of greys, 0 to 255. matplotlib 3.9.4 and 3.11.2 differ by .14, which is
# what rounding to whole greys makes; without any one line, marker or bar it is .4 or more.
TOLERANCE = 0.3


def distance(image, other):
    """Without the last squares at an edge: versions of matplotlib round the size of a figure differently."""
    rows, columns = np.minimum(image.shape, other.shape)
    assert np.abs(np.subtract(image.shape, other.shape)).max() <= 1
    return np.sqrt(np.mean((image[:rows, :columns] - other[:rows, :columns]) ** 2))


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_was(name):
    assert distance(drawn(name), stored(name)) <= TOLERANCE
