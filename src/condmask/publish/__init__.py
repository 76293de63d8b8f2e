"""Prepare, mask, describe and log a release; the public face of schemes, tables and files."""
