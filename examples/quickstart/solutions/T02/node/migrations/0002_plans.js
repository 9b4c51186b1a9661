export function up(tables) {
  for (const tenant of tables.tenants) tenant.plan = "free";
  tables.billingEvents = []; // { id, type, tenantId }
}
