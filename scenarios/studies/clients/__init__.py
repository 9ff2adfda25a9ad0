"""Chance under real clients: applications run against a served cluster whose faults a seed has drawn, and are judged by
what they saw (``understudy chaos --clients``)."""
