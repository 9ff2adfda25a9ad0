"""A run's past, for checkers: shared folds, one for each subject, reached through one ``History``."""
