"""What checkers need to know of a run's past: shared folds, one for each subject, behind one ``History``."""
