export function up(tables) {
  tables.notes = []; // { id, tenantId, title, body }
}
