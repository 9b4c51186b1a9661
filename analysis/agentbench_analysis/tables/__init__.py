"""Every table of the publication, as plain data and as files."""
