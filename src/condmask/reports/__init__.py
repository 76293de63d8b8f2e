"""Write reports of releases, for publishers and for readers."""
