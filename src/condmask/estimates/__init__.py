"""The analyst's view: what can be estimated about the original from masked values."""
