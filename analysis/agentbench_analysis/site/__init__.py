"""The results site: static pages that open from a file, with nothing fetched from anywhere."""
