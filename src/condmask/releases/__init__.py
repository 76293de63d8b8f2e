"""Releases: masked tables and files, and what is published with them."""
