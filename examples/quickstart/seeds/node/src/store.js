// The data: one JSON file in $DATA_DIR, read once and replaced whole on every change.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.DATA_DIR;
const file = join(folder, "desk.json");
const migrations = new URL("../migrations/", import.meta.url);

let data = load();

function load() {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { migrations: [] };
}

/** The tables, by name: arrays of records. Change them inside `change` alone. */
export function tables() {
  return data;
}

/** Change the tables; what `edit` throws leaves them as they were. */
export function change(edit) {
  const next = structuredClone(data);
  const result = edit(next);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(next));
  renameSync(`${file}.new`, file);
  data = next;
  return result;
}

/** Run the migrations that have not run yet; gives their names. */
export async function migrate() {
  const done = [];
  for (const name of readdirSync(migrations).sort()) {
    if (data.migrations.includes(name)) continue;
    const { up } = await import(new URL(name, migrations));
    change((next) => {
      up(next);
      next.migrations.push(name);
    });
    done.push(name);
  }
  return done;
}
