// Every route in one place: method, path, handler. A part `:name` of a path is given to the handler.
import * as accounts from "./accounts.js";
import * as notes from "./notes.js";

notes.forget();

export const routes = [
  ["GET", "/health", async () => [200, { status: "ok" }]],
  ["POST", "/signup", accounts.signUp],
  ["POST", "/login", accounts.logIn],
  ["GET", "/me", accounts.me],
  ["GET", "/users", accounts.listUsers],
  ["POST", "/users", accounts.createUser],
  ["GET", "/notes", notes.index],
  ["POST", "/notes", notes.create],
  ["GET", "/notes/:id", notes.show],
  ["PUT", "/notes/:id", notes.update],
  ["DELETE", "/notes/:id", notes.remove],
];
