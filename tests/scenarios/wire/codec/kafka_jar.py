"""Kafka's own clients in the local Maven repository.

``mvn dependency:get -Dartifact=org.apache.kafka:kafka-clients:3.9.1`` puts them there.
"""

from pathlib import Path

RELEASE = "3.9.1"
REPOSITORY = Path.home() / ".m2" / "repository"
CLIENTS = REPOSITORY / "org/apache/kafka/kafka-clients" / RELEASE / f"kafka-clients-{RELEASE}.jar"
LOGGING = sorted((REPOSITORY / "org/slf4j/slf4j-api").glob("*/slf4j-api-*.jar"))
