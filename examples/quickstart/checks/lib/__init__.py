"""What the checks of this pack share: HTTP client, harness client, report. Standard library only."""
