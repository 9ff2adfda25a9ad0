"""A scenario file from what is known of a real cluster: texts of Kafka's tools, Cruise Control's answers, rates, or the
cluster itself. ``found`` holds the facts of all sources, ``assembling`` decides by rule what they mean in a scenario,
and ``writing`` makes the file with its comments."""
