CREATE TABLE notes (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES users (id),
    title TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX notes_of_tenant ON notes (tenant_id);
