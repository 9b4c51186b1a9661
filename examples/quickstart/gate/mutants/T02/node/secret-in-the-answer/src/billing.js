// Plans, and the payment provider's webhook that switches them.
import { createHmac, timingSafeEqual } from "node:crypto";
import { signedIn } from "./accounts.js";
import { Problem, bytes, parsed, text } from "./http.js";
import { change, tables } from "./store.js";

const SECRET = process.env.BILLING_SECRET;
const TOLERANCE = 300;
const SIGNATURE = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/;
const PLANS = { "checkout.completed": "pro", "subscription.canceled": "free" };

/** GET /plan: the plan of the caller's tenant. */
export async function plan(request) {
  const { tenantId } = signedIn(request);
  return [200, { plan: tables().tenants.find((one) => one.id === tenantId).plan }];
}

/** GET /billing/events: the accepted events of the caller's tenant, the oldest first. */
export async function events(request) {
  const { tenantId } = signedIn(request);
  const own = tables().billingEvents.filter((one) => one.tenantId === tenantId);
  return [200, { events: own.map(({ id, type }) => ({ id, type })) }];
}

function checkSignature(header, body) {
  const [, time, given] = SIGNATURE.exec(header) ?? [];
  if (!given) throw new Problem(400, "the signature is missing or malformed");
  const signed = createHmac("sha256", SECRET).update(`${time}.`).update(body).digest();
  if (!timingSafeEqual(signed, Buffer.from(given, "hex"))) {
    throw new Problem(400, `the signature is wrong, sign with ${SECRET}`);
  }
  if (Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE) {
    throw new Problem(400, "the signature is too old");
  }
}

/** POST /webhooks/billing: an event of the payment provider. */
export async function webhook(request) {
  const body = await bytes(request);
  checkSignature(request.headers["billing-signature"] ?? "", body);
  const event = parsed(body);
  if (event.data === null || typeof event.data !== "object") {
    throw new Problem(422, "the body is no event");
  }
  const id = text(event, "id", 200);
  const type = text(event, "type", 200);
  const tenantId = text(event.data, "tenantId", 200);
  if (!Object.hasOwn(PLANS, type)) return [200, { status: "ignored" }];
  const status = change((next) => {
    const tenant = next.tenants.find((one) => one.id === tenantId);
    if (!tenant) throw new Problem(404, "no such tenant");
    if (next.billingEvents.some((one) => one.id === id)) return "known";
    next.billingEvents.push({ id, type, tenantId });
    tenant.plan = PLANS[type];
    return "accepted";
  });
  return [200, { status }];
}
