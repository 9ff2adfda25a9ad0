"""The API versions that real brokers of many releases announce, asked of each."""
