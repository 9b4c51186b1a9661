"""What a campaign can show, simulated before it is paid for."""
