"""Reports of releases, for those who publish and for those who read."""
