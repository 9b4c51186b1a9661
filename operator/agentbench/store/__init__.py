"""Object stores that never change what they hold."""
