"""The publisher's guide: incomes before masking, as released, and as estimated."""

import condmask as cm
from condmask import demo

people = demo.people()
scheme = cm.ReverseMapping(0.6, 0.3, scale="log")
release = cm.mask_table(
    people, {"income": scheme}, rng=1
)  # for an example; never seed a real release
cm.plot_release(people, release, rng=1)
