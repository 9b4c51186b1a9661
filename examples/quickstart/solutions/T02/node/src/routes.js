// Every route in one place: method, path, handler. A part `:name` of a path is given to the handler.
import * as accounts from "./accounts.js";
import * as billing from "./billing.js";

export const routes = [
  ["GET", "/health", async () => [200, { status: "ok" }]],
  ["POST", "/signup", accounts.signUp],
  ["POST", "/login", accounts.logIn],
  ["GET", "/me", accounts.me],
  ["GET", "/users", accounts.listUsers],
  ["POST", "/users", accounts.createUser],
  ["GET", "/plan", billing.plan],
  ["GET", "/billing/events", billing.events],
  ["POST", "/webhooks/billing", billing.webhook],
];
