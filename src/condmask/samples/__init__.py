"""What an estimate stands on: masked values as they were counted or sorted, and what is read from them."""
