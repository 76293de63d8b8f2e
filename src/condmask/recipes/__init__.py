"""Recipes: every choice of a release in one TOML file, and the release made from it."""
