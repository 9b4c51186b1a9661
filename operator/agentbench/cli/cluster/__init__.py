"""The command line on a cluster: what a user may do there, with the user's own rights."""
