"""Brings the database's schema up to date."""

from app.database import migrate

for name in migrate():
    print(f"applied {name}")
