"""Rules: pure functions of frozen inputs."""
