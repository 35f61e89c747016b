"""Settings of all tests: properties are tried on the same examples everywhere, however busy the machine is."""

from hypothesis import HealthCheck, settings

settings.register_profile("here", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")
