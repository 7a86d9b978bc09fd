import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import {
  type AddressInfo,
  connect,
  createServer as createNetServer,
  type Server as NetServer,
  type Socket,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { ABORTED } from "../../lib/abort.ts";
import { placeBelow } from "./base-url.ts";
import { type Body, HttpClient, HttpRefusal, HttpSilence } from "./client.ts";

const { signal } = new AbortController();

it.each([
  ["http://a.io", "/chat", "http://a.io/chat"],
  ["http://a.io/v1", "/chat", "http://a.io/v1/chat"],
  ["http://a.io/own/?api-version=3&b=%2F", "/chat", "http://a.io/own/chat?api-version=3&b=%2F"],
  ["http://a.io?k=1", "/m%2Fx:stream?alt=sse", "http://a.io/m%2Fx:stream?alt=sse&k=1"],
])("placeBelow() keeps the query of %s behind %s", (base, path, place) => {
  expect(placeBelow(base, path).href).toBe(place);
});

async function listening<T extends NetServer>(server: T): Promise<T & { readonly port: number }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

async function clientOf(listener: RequestListener, patience?: { connectMs: number; silenceMs: number }) {
  const server = await listening(createServer(listener));
  const client = new HttpClient(`http://127.0.0.1:${server.port}/base`, { "x-api-key": "k" }, patience);
  onTestFinished(() => client.close());
  return { server, client };
}

/** A client of a server that says just this, whatever it is asked. */
async function clientOfBytes(say: (write: (text: string) => boolean) => void): Promise<HttpClient> {
  const server = await listening(
    createNetServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => say((text) => !socket.destroyed && socket.write(text)));
    }),
  );
  const client = new HttpClient(`http://127.0.0.1:${server.port}`, {});
  onTestFinished(() => client.close());
  return client;
}

async function textOf(body: Body): Promise<string> {
  const parts: Uint8Array[] = [];
  for (let step = await body.next(); step.done !== true; step = await body.next()) parts.push(step.value);
  return Buffer.concat(parts).toString();
}

describe("HttpClient", () => {
  it("goes on with few of the answers that come together in one round of the event loop", async () => {
    const held: (() => void)[] = [];
    const all = 24;
    const { client } = await clientOf((_request, response) => {
      held.push(() => response.end("{}"));
      if (held.length === all) for (const answer of held) answer();
    });
    let round = 0;
    let next = setImmediate(function count() {
      round++;
      next = setImmediate(count);
    });
    onTestFinished(() => clearImmediate(next));
    const rounds = new Map<number, number>();
    const posts = Array.from({ length: all }, async () => {
      const body = await client.post("/x", "{}", { signal });
      rounds.set(round, (rounds.get(round) ?? 0) + 1);
      expect(await textOf(body)).toBe("{}");
    });
    await Promise.all(posts);
    expect(Math.max(...rounds.values())).toBeLessThanOrEqual(all / 3);
  });

  it("post() sends the JSON with the credential and nothing else of the machine, over one connection", async () => {
    const seen: unknown[] = [];
    let connections = 0;
    const { server, client } = await clientOf((request, response) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers });
      request.pipe(response);
    });
    server.on("connection", () => connections++);
    for (const text of ['{"a":1}', '{"a":"é漢"}'])
      expect(await textOf(await client.post("/x", text, { signal, headers: { more: "m" } }))).toBe(text);
    expect(connections).toBe(1);
    expect(seen[1]).toEqual({
      method: "POST",
      url: "/base/x",
      headers: {
        "x-api-key": "k",
        accept: "application/json",
        "accept-encoding": "identity",
        "user-agent": expect.stringMatching(/^crux\//),
        "content-type": "application/json",
        more: "m",
        host: `127.0.0.1:${server.port}`,
        connection: "keep-alive",
        "content-length": "13",
      },
    });
  });

  it("get() gives JSON, and undefined for anything else", async () => {
    const { client } = await clientOf((request, response) =>
      response.end(request.url === "/base/json" ? "[1]" : "<p>"),
    );
    expect(await client.ask("/json", { signal })).toEqual([1]);
    expect(await client.ask("/html", { signal })).toBeUndefined();
  });

  it("post() rejects with the refusal of the server and when to try again", async () => {
    const { client } = await clientOf((_, response) =>
      response.writeHead(429, { "retry-after": "7", "x-other": "o" }).end('{"error":"no"}'),
    );
    const refusal = await client.post("/x", "{}", { signal }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(HttpRefusal);
    expect(refusal).toMatchObject({ status: 429, body: { error: "no" }, message: '429 {"error":"no"}' });
    const { date, ...told } = Object.fromEntries((refusal as HttpRefusal).headers);
    expect([told, date]).toEqual([{ "retry-after": "7" }, expect.stringContaining("GMT")]);
  });

  it("post() reads a refusal that is the one item of a list", async () => {
    const { client } = await clientOf((_, response) => response.writeHead(400).end('[{"error":"no"}]'));
    const refusal = client.post("/x", "{}", { signal });
    await expect(refusal).rejects.toMatchObject({ status: 400, body: { error: "no" } });
  });

  it("post() follows no redirect", async () => {
    let asked = 0;
    const { client } = await clientOf((_, response) => {
      asked++;
      response.writeHead(307, { location: "/base/y" }).end();
    });
    await expect(client.post("/x", "{}", { signal })).rejects.toMatchObject({ status: 307 });
    expect(asked).toBe(1);
  });

  it("post() keeps only the beginning of a refusal without end", async () => {
    const client = await clientOfBytes((write) => {
      write("HTTP/1.1 500 No\r\n\r\n");
      const more = (): void => void (write("x".repeat(65_536)) && setImmediate(more));
      more();
    });
    const refusal = (await client
      .post("/x", "{}", { signal })
      .catch((error: unknown) => error)) as HttpRefusal;
    expect(refusal.status).toBe(500);
    expect(refusal.body).toEqual({});
    expect(refusal.message.length).toBe("500 ".length + 1024 * 1024);
  });

  it("post() refuses headers without end", async () => {
    const client = await clientOfBytes((write) => {
      write("HTTP/1.1 200 OK\r\n");
      const more = (): void => void (write(`x-more: ${"x".repeat(4096)}\r\n`) && setImmediate(more));
      more();
    });
    await expect(client.post("/x", "{}", { signal })).rejects.toMatchObject({ code: "HPE_HEADER_OVERFLOW" });
  });

  it("post() refuses a body that was packed although nobody asked for it", async () => {
    const { client } = await clientOf((_, response) =>
      response.writeHead(200, { "content-encoding": "br" }).end("x"),
    );
    await expect(client.post("/x", "{}", { signal })).rejects.toThrow("encoding br");
  });

  it("post() refuses a base URL with a password, before it connects", async () => {
    const client = new HttpClient("http://u:p@127.0.0.1:9", {});
    await expect(client.post("/x", "{}", { signal })).rejects.toThrow("a user name or a password");
  });

  it("post() ends with the reason of an abort: before, while it waits, and in the body", async () => {
    const gone: Promise<unknown>[] = [];
    const { client } = await clientOf((request, response) => {
      gone.push(once(response, "close"));
      if (request.url === "/base/body") response.write("a");
    });
    await expect(client.post("/x", "{}", { signal: AbortSignal.abort(ABORTED) })).rejects.toBe(ABORTED);
    const waiting = new AbortController();
    const answer = client.post("/x", "{}", { signal: waiting.signal });
    await expect.poll(() => gone.length).toBe(1);
    waiting.abort(ABORTED);
    await expect(answer).rejects.toBe(ABORTED);
    const reading = new AbortController();
    const body = await client.post("/body", "{}", { signal: reading.signal });
    expect((await body.next()).done).toBe(false);
    const rest = body.next();
    reading.abort(ABORTED);
    await expect(rest).rejects.toBe(ABORTED);
    await Promise.all(gone);
  });

  it("close() of a body that is not read to its end closes its connection, even while more is awaited", async () => {
    let gone: Promise<unknown> | undefined;
    const { client } = await clientOf((_, response) => {
      gone = once(response, "close");
      response.write("a");
    });
    const body = await client.post("/x", "{}", { signal });
    await body.next();
    const rest = body.next().catch(() => {});
    body.close();
    await Promise.all([gone, rest]);
  });

  it("post() fails when the connection is cut in the body", async () => {
    const { client } = await clientOf((_, response) => void response.write("a", () => response.destroy()));
    const body = await client.post("/x", "{}", { signal });
    await expect(textOf(body)).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("post() ends a silence before the answer and in its body", async () => {
    const { client } = await clientOf(
      (request, response) => void (request.url === "/base/body" && response.write("a")),
      { connectMs: 10_000, silenceMs: 50 },
    );
    await expect(client.post("/x", "{}", { signal })).rejects.toBeInstanceOf(HttpSilence);
    // on a slow machine the headers may be late, too
    const text = client.post("/body", "{}", { signal }).then(textOf);
    await expect(text).rejects.toBeInstanceOf(HttpSilence);
  });

  it("post() waits only so long for a connection", async () => {
    const silent = await listening(createNetServer((socket) => socket.on("error", () => {})));
    const patience = { connectMs: 50, silenceMs: 10_000 };
    const client = new HttpClient(`https://127.0.0.1:${silent.port}`, {}, patience);
    await expect(client.post("/x", "{}", { signal })).rejects.toThrow("no connection within 0.05 s");
  });
});

describe("HttpClient in an environment of its own", () => {
  it("asks a proxy for a plain server, except for those in NO_PROXY", async () => {
    const server = await listening(createServer((_, response) => response.end('"direct"')));
    const proxy = await listening(
      createServer((request, response) => response.end(JSON.stringify(request.url))),
    );
    const url = `http://127.0.0.1:${server.port}`;
    const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    expect(await gotBy(url, env)).toBe(`${url}/x`);
    expect(await gotBy(url, { ...env, NO_PROXY: "127.0.0.1" })).toBe("direct");
    expect(await gotBy(url, { HTTP_PROXY: env.HTTP_PROXY })).toBe("direct");
    const own = { http_proxy: `127.0.0.1:${proxy.port}`, NO_PROXY: "other.example" };
    expect(await gotBy("http://model.example", own)).toBe("http://model.example/x");
  });

  it.skipIf(!hasOpenssl())(
    "trusts an additional certificate, through a proxy too, and no other",
    async () => {
      const dir = mkdtempSync(join(tmpdir(), "crux http 'client' "));
      onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
      const { key, cert, path } = certificateIn(dir);
      const server = await listening(
        createSecureServer({ key, cert }, (_, response) => response.end('"secure"')),
      );
      const asked: string[] = [];
      const proxy = await listening(createServer());
      proxy.on("connect", (request, socket) => {
        asked.push(request.url ?? "");
        const out = connect(server.port, "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 OK\r\n\r\n");
          socket.pipe(out).pipe(socket);
        });
        socket.on("error", () => out.destroy());
        out.on("error", () => socket.destroy());
      });
      const url = `https://127.0.0.1:${server.port}`;
      const trusting = { NODE_EXTRA_CA_CERTS: path };
      expect(await gotBy(url, trusting)).toBe("secure");
      const proxied = { NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
      expect(await gotBy(url, { ...trusting, ...proxied })).toBe("secure");
      expect(asked).toEqual([`127.0.0.1:${server.port}`]);
      await expect(gotBy(url, {})).rejects.toThrow("self-signed certificate");
    },
  );
});

/** What a process with this environment gets of `/x`. */
async function gotBy(url: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  const program = `
    import { HttpClient } from ${JSON.stringify(new URL("client.ts", import.meta.url).href)};
    const client = new HttpClient(${JSON.stringify(url)}, {});
    const got = await client.ask("/x", { signal: new AbortController().signal });
    process.stdout.write(JSON.stringify(got));`;
  const args = ["--input-type=module", "--no-warnings", "-e", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
}

function hasOpenssl(): boolean {
  return spawnSync("openssl", ["version"]).status === 0;
}

/** A certificate that nobody but its owner vouches for. */
function certificateIn(dir: string) {
  const [keyFile, path] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  writeFileSync(join(dir, "conf"), "[req]\ndistinguished_name=name\n[name]\n");
  const subject = ["-subj", "/CN=crux test", "-addext", "subjectAltName=IP:127.0.0.1"];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const files = ["-config", join(dir, "conf"), "-keyout", keyFile, "-out", path];
  const made = spawnSync("openssl", ["req", ...kind, ...subject, ...files]);
  if (made.status !== 0) throw new Error(made.stderr.toString());
  return { key: readFileSync(keyFile), cert: readFileSync(path), path };
}
