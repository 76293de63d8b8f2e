"""Reports of releases, for those who publish and for those who read, and the plan files that ask for them."""
