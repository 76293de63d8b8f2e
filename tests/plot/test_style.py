"""Series differ for colour-blind readers and in black and white."""

from itertools import combinations

import numpy as np
from matplotlib.colors import to_rgb

from condmask.plot.panels import COLOURS

# Viénot, Brettel and Mollon (1999): what is left of linear red, green, blue without one kind of cone
SEEN = {
    "without long ones": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "without middle ones": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


def test_colours_differ_for_colour_blind_readers():
    linear = np.array([to_rgb(colour) for colour in COLOURS]) ** 2.2

    for matrix in SEEN.values():
        left = np.clip(linear @ np.transpose(matrix), 0.0, 1.0) ** (1 / 2.2)
        # of the default colours of matplotlib two are .04 apart
        assert min(np.linalg.norm(a - b) for a, b in combinations(left, 2)) > 0.12
