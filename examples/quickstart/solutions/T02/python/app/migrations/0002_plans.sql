ALTER TABLE tenants ADD COLUMN plan TEXT NOT NULL DEFAULT 'free';
CREATE TABLE billing_events (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    tenant_id TEXT NOT NULL REFERENCES tenants (id)
);
