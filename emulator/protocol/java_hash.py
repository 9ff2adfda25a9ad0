"""String.hashCode of Java, and the partitions that Kafka chooses by it."""


def java_hash(text: str) -> int:
    """String.hashCode of Java."""
    units = text.encode("utf-16-be", "surrogatepass")
    code = 0
    for place in range(0, len(units), 2):
        code = (31 * code + (units[place] << 8 | units[place + 1])) & 0xFFFFFFFF
    return code - (1 << 32) if code >> 31 else code


def partition_of(key: str, partitions: int) -> int:
    """The partition that a group or a transactional id belongs to (partitionFor)."""
    code = java_hash(key)
    return (0 if code == -(1 << 31) else abs(code)) % partitions
