"""The studies of ``scenarios/studies/library``, carried out, and their pages in docs/understand/studies."""
