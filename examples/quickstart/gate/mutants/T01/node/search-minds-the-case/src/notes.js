// Notes, each the property of one tenant.
import { randomBytes } from "node:crypto";
import { signedIn } from "./accounts.js";
import { Problem, bytes, parsed, text } from "./http.js";
import { change, tables } from "./store.js";

const shown = ({ id, title, body }) => ({ id, title, body });

function fields(body) {
  const content = body.body ?? "";
  if (typeof content !== "string") throw new Problem(422, "body must be a text");
  return { title: text(body, "title", 200), body: content };
}

function found(notes, id, tenantId) {
  const note = notes.find((one) => one.id === id && one.tenantId === tenantId);
  if (!note) throw new Problem(404, "no such note");
  return note;
}

/** GET /notes: the tenant's notes, those that contain `q`. */
export async function index(request, { query }) {
  const { tenantId } = signedIn(request);
  const wanted = (query.get("q") ?? "").toLowerCase();
  const notes = tables()
    .notes.filter((one) => one.tenantId === tenantId)
    .filter((one) => one.title.includes(wanted) || one.body.includes(wanted));
  return [200, { notes: notes.map(shown) }];
}

/** POST /notes: a new note. */
export async function create(request) {
  const { tenantId } = signedIn(request);
  const note = { id: randomBytes(8).toString("hex"), tenantId, ...fields(parsed(await bytes(request))) };
  change((next) => next.notes.push(note));
  return [201, shown(note)];
}

/** GET /notes/ID: one note. */
export async function show(request, { params }) {
  const { tenantId } = signedIn(request);
  return [200, shown(found(tables().notes, params.id, tenantId))];
}

/** PUT /notes/ID: another title and body. */
export async function update(request, { params }) {
  const { tenantId } = signedIn(request);
  const given = fields(parsed(await bytes(request)));
  const note = change((next) => Object.assign(found(next.notes, params.id, tenantId), given));
  return [200, shown(note)];
}

/** DELETE /notes/ID: the note is gone. */
export async function remove(request, { params }) {
  const { tenantId } = signedIn(request);
  change((next) => {
    const gone = found(next.notes, params.id, tenantId);
    next.notes = next.notes.filter((one) => one !== gone);
  });
  return [204];
}
