// Requests and answers: JSON in, JSON out, problems as exceptions.

/** An answer that is no success: its status and a word for the client. */
export class Problem extends Error {
  constructor(status, error) {
    super(error);
    this.status = status;
  }
}

/** The request's body as bytes; 413 beyond 1 MB. */
export async function bytes(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > 1_000_000) throw new Problem(413, "the body is too large");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Bytes as a JSON object; 400 for anything else. */
export function parsed(body) {
  let value;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw new Problem(400, "the body is not JSON");
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Problem(400, "the body is not a JSON object");
  }
  return value;
}

/** A text field that is not empty; 422 for anything else. */
export function text(body, field, limit = 10_000) {
  const value = body[field];
  if (typeof value !== "string" || !value.trim() || value.length > limit) {
    throw new Problem(422, `${field} must be a text of 1 to ${limit} characters`);
  }
  return value;
}
