"""Finding and loading the data folders: rubrics and task sets, packaged or the user's own."""
