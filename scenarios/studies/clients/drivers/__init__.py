"""Drivers: small applications in Python, each a program with one client. It gets its plan on standard input and reports
each thing that it sees in a line of standard output. They import nothing else of the house."""
