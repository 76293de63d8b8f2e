"""Conditional masking by options of which one chooses the class, for tests of both."""

import condmask as cm


def conditional_or_mapped(*parameters, reverse_mapping=False, **options):
    """Return a scheme with noise on a grid, or one of reverse mapping."""
    make = cm.ReverseMapping if reverse_mapping else cm.ConditionalMasking
    return make(*parameters, **options)
