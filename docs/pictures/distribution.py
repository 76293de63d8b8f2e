"""The analyst's guide: the distribution function of incomes, from the release alone."""

import condmask as cm
from condmask import demo

people = demo.people()
rounded = people.assign(income=people["income"].round(-2))
scheme = cm.ConditionalMasking(0.6, 500.0, step=100.0)
release = cm.mask_table(rounded, {"income": scheme}, rng=2)
release["income"].plot_cdf(rng=1)
