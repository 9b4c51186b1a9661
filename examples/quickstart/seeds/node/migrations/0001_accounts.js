export function up(tables) {
  tables.tenants = []; // { id, name }
  tables.users = []; // { id, tenantId, email, password }
  tables.sessions = []; // { token, userId }
}
