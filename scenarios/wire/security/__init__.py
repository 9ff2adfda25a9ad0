"""TLS and SASL on listeners beside PLAINTEXT: certificates, users, mechanisms. Imported only where a cluster is served
with such a listener."""
