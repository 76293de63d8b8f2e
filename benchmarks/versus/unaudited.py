"""The argument that releases without an audit, by the name that it has in the package timed: older
commits are compared, too."""

from inspect import signature

import condmask as cm

NAMED = "accept" in signature(cm.mask_table).parameters
UNAUDITED = {"accept": "all"} if NAMED else {"accept_visible_coins": True}
