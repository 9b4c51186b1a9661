"""The database: one SQLite file in $DATA_DIR, its schema made by the files in migrations/."""

import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"


@contextmanager
def database():
    """A connection whose changes are kept together, or not at all."""
    connection = sqlite3.connect(Path(os.environ["DATA_DIR"]) / "desk.sqlite", timeout=10)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def migrate():
    """Run the migrations that have not run yet; returns their names."""
    done = []
    with database() as db:
        db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
        for path in sorted(MIGRATIONS.glob("*.sql")):
            if db.execute("SELECT 1 FROM migrations WHERE name = ?", (path.name,)).fetchone():
                continue
            db.executescript(path.read_text())
            db.execute("INSERT INTO migrations VALUES (?)", (path.name,))
            done.append(path.name)
    return done
