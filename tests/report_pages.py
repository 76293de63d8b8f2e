"""Pages of reports, read: the cells of their tables, and the schemes that they are made with."""

import re

import condmask as cm

N = 3000
SCHEME = cm.ConditionalMasking(0.6, 1000.0, decimals=2)
MAPPED = cm.ConditionalMasking(0.6, 0.3, scale="log", reverse_mapping=True)


def cells(page, name):
    """The cells of the rows of this name."""
    rows = re.findall(rf'<tr><th scope="row">{name}</th>(.*?)</tr>', page)
    return [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]
