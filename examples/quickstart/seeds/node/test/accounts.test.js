// Passwords are stored so that they cannot be read back.
import assert from "node:assert";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

process.env.DATA_DIR ??= mkdtempSync(join(tmpdir(), "desk-"));
const { hashed } = await import("../src/accounts.js");

test("two hashes of a password differ", () => {
  assert.notStrictEqual(hashed("secret"), hashed("secret"));
});

test("the same salt gives the same hash", () => {
  assert.strictEqual(hashed("secret", "salt"), hashed("secret", "salt"));
});
