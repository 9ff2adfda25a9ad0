"""What a producer is made of: which partition a message goes to, batches that wait, sequence numbers."""
