"""How pictures look: colours that colour-blind readers tell apart, and for black and white a marker and a
line style of its own for each series.

The colours are those of Okabe and Ito, "Color Universal Design" (2008), without yellow, faint on white.
"""

from typing import Any

BLACK, BLUE, VERMILLION, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
GREY = "#7F7F7F"  # what is there for comparison

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))


def series(k: int) -> dict[str, Any]:
    """The look of the k-th line: seven colours, eight markers and five line styles meet again after 280."""
    return {
        "color": COLOURS[k % len(COLOURS)],
        "marker": MARKERS[k % len(MARKERS)],
        "linestyle": LINES[k % len(LINES)],
    }
