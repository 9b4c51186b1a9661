"""What all tests share."""

from hypothesis import HealthCheck, settings

# A property is judged by what holds, never by how busy the machine is.
settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("steady")
