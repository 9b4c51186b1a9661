// Serves the app on $PORT.
import { createServer } from "node:http";
import { Problem } from "./http.js";
import { routes } from "./routes.js";

function match(pattern, path) {
  const wanted = pattern.split("/");
  const parts = path.split("/");
  if (wanted.length !== parts.length) return null;
  const found = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(":")) found[part.slice(1)] = decodeURIComponent(parts[index]);
    else if (part !== parts[index]) return null;
  }
  return found;
}

async function answer(request) {
  const url = new URL(request.url, "http://app");
  let known = false;
  for (const [method, pattern, handler] of routes) {
    const params = match(pattern, url.pathname);
    if (params === null) continue;
    known = true;
    if (method === request.method) return handler(request, { params, query: url.searchParams });
  }
  throw known ? new Problem(405, "no such method here") : new Problem(404, "no such page");
}

const server = createServer(async (request, response) => {
  let status, body;
  try {
    [status, body] = await answer(request);
  } catch (error) {
    if (!(error instanceof Problem) && !(error instanceof URIError)) console.error(error);
    status = error.status ?? (error instanceof URIError ? 400 : 500);
    body = { error: status === 500 ? "something broke" : error.message };
  }
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body === undefined ? "" : JSON.stringify(body));
});

server.listen(Number(process.env.PORT), process.env.HOST ?? "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
