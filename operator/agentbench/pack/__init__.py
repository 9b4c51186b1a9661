"""Packs: folders that hold a protocol. Loaded, checked, layered, frozen and verified here."""
