"""Rule classifiers, one file each: they may defer, but they may not be wrong."""
