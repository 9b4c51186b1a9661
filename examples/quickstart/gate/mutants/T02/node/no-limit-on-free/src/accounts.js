// Tenants, users and sessions.
import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { Problem, bytes, parsed, text } from "./http.js";
import { change, tables } from "./store.js";

const FREE_USERS = 20;

/** A password as it is stored: salt and scrypt of both. */
export function hashed(password, salt = randomBytes(16).toString("hex")) {
  return `${salt}$${scryptSync(password, salt, 64, { N: 2 ** 12 }).toString("hex")}`;
}

/** The user whose token the request carries; 401 for nobody. */
export function signedIn(request) {
  const [scheme, token] = (request.headers.authorization ?? "").split(" ");
  const session = tables().sessions.find((one) => one.token === token);
  if (scheme.toLowerCase() !== "bearer" || !session) throw new Problem(401, "sign in first");
  return tables().users.find((one) => one.id === session.userId);
}

function addUser(next, tenantId, body) {
  const { plan } = next.tenants.find((one) => one.id === tenantId);
  const count = next.users.filter((one) => one.tenantId === tenantId).length;
  if (plan === "free" && count >= FREE_USERS) {
    throw new Problem(402, `the free plan has ${FREE_USERS} users`);
  }
  const email = text(body, "email", 200);
  const password = hashed(text(body, "password", 200));
  if (next.users.some((one) => one.email === email)) {
    throw new Problem(409, "this address has an account");
  }
  const user = { id: randomBytes(8).toString("hex"), tenantId, email };
  next.users.push({ ...user, password });
  return user;
}

function openSession(next, userId) {
  const token = randomBytes(32).toString("base64url");
  next.sessions.push({ token, userId });
  return token;
}

/** POST /signup: a new tenant with its first user. */
export async function signUp(request) {
  const body = parsed(await bytes(request));
  const answer = change((next) => {
    const tenant = { id: randomBytes(8).toString("hex"), name: text(body, "tenant"), plan: "free" };
    next.tenants.push(tenant);
    const user = addUser(next, tenant.id, body);
    return { token: openSession(next, user.id), user };
  });
  return [201, answer];
}

/** POST /login: a token for a user who knows the password. */
export async function logIn(request) {
  const body = parsed(await bytes(request));
  const email = text(body, "email", 200);
  const password = text(body, "password", 200);
  const user = tables().users.find((one) => one.email === email);
  const stored = user?.password ?? hashed("nobody");
  const given = hashed(password, stored.split("$")[0]);
  if (!timingSafeEqual(Buffer.from(given), Buffer.from(stored)) || !user) {
    throw new Problem(401, "wrong address or password");
  }
  return [200, { token: change((next) => openSession(next, user.id)) }];
}

/** GET /me: who is signed in. */
export async function me(request) {
  const { id, email, tenantId } = signedIn(request);
  const { name } = tables().tenants.find((one) => one.id === tenantId);
  return [200, { id, email, tenant: { id: tenantId, name } }];
}

/** GET /users: the people of the caller's tenant. */
export async function listUsers(request) {
  const { tenantId } = signedIn(request);
  const users = tables().users.filter((one) => one.tenantId === tenantId);
  return [200, { users: users.map(({ id, email }) => ({ id, email })) }];
}

/** POST /users: one more of them. */
export async function createUser(request) {
  const { tenantId } = signedIn(request);
  const body = parsed(await bytes(request));
  return [201, change((next) => addUser(next, tenantId, body))];
}
