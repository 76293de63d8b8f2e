"""Mask columns: schemes, the draws that every scheme shares, and one file for each method."""
