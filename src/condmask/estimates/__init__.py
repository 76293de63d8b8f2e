"""The analyst's view: what masked values tell about the original."""
