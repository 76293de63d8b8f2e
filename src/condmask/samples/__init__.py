"""The samples behind estimates: masked values, counted or sorted, and what is computed from them."""
