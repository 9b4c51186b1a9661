"""What a cluster needs for campaigns, looked at one by one: each lack with its cure."""
