"""One file for each release or document, which holds its ``PROFILE``. A release means its last patch, as 2.5.1 for
kafka-2.5 (kafka-behaviour §11). Kafka 2.3 is written as the policies' own defaults, each other one as its neighbour and
the differences to it."""
