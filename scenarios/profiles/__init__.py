"""Profiles: the release or document whose behaviour a cluster shows, one file for each in ``releases``."""

from scenarios.profiles.profile import Difference, Policies, Profile
from scenarios.profiles.profile_registry import DEFAULT_PROFILE, PROFILES, check_profile, register

__all__ = ["DEFAULT_PROFILE", "PROFILES", "Difference", "Policies", "Profile", "check_profile", "register"]
