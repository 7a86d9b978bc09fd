import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Act, O_RDWR, O_WRONLY } from "../../abi/device.ts";
import { asCallId } from "../../abi/ids.ts";
import type { WebAnswer, WebRequest } from "../../abi/ops/web.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { deviceContract } from "../contract.ts";
import { OutputStore } from "../out/output-store.ts";
import { callerIn } from "../testing.ts";
import { PageCache } from "./cache.ts";
import { webDevice } from "./device.ts";
import { plainText } from "./page.ts";
import { type Site, type TestWeb, testWeb } from "./testing.ts";

let dir: string;
let web: TestWeb | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-web-"));
});
afterEach(async () => {
  await web?.[Symbol.asyncDispose]();
  web = undefined;
  rmSync(dir, { recursive: true });
});

const page: Site = (_request, response) =>
  response
    .setHeader("content-type", "text/html; charset=utf-8")
    .end("<h1>Hello</h1><script>evil()</script><p>You <b>are</b> here.</p>");

async function start(site: Site = page, names?: Parameters<typeof testWeb>[1]) {
  web = await testWeb(site, names);
  const { ports, isPrivate } = web;
  let skippedMs = 0;
  const cache = new PageCache(() => systemClock.mono() + skippedMs);
  const outputs = new OutputStore(join(dir, "outputs"));
  const device = webDevice({ ports, isPrivate, cache, outputs, clock: systemClock, version: "1.2.3" });
  const fetchIt = async (request: Partial<WebRequest>, signal = new AbortController().signal) => {
    const file = await device.open("", O_RDWR, callerIn("/"));
    const act: Act = { signal, callId: asCallId("c_1"), sys: {} as Act["sys"] };
    try {
      await file.write(Buffer.from(JSON.stringify(request)), act);
      const bytes = await file.read(64 * 1024 * 1024, signal);
      return JSON.parse(Buffer.from(bytes).toString("utf8")) as WebAnswer;
    } finally {
      await file.close();
    }
  };
  const wait = (ms: number) => {
    skippedMs += ms;
  };
  return { web, device, fetchIt, cache, outputs, wait };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error: { code?: string; message: string }) => [error.code, error.message],
  );

deviceContract("web", async () => {
  const { web: w, device } = await start();
  return {
    device,
    caller: callerIn("/"),
    request: { subpath: "", bytes: JSON.stringify({ url: w.url("docs.example") }) },
    refused: [
      { subpath: "", flags: O_WRONLY, code: "INVALID" },
      { subpath: "/x", flags: O_RDWR, code: "NOT_FOUND" },
    ],
  };
});

describe("/dev/web", () => {
  it("declares where it goes, and that it only asks", async () => {
    const { device, web: w } = await start();
    const file = await device.open("", O_RDWR, callerIn("/"));
    const plan = await file.plan?.(Buffer.from(JSON.stringify({ url: w.url("docs.example") })));
    expect(plan?.effects).toEqual([
      { kind: "network", host: "docs.example", port: w.port, method: "GET", url: w.url("docs.example") },
    ]);
  });

  it("gives a page as Markdown, without what runs in it", async () => {
    const { fetchIt, web: w } = await start();
    const answer = await fetchIt({ url: w.url("docs.example", "/a"), as: "markdown" });
    expect(answer).toMatchObject({
      status: 200,
      content_type: "text/html",
      text: "# Hello\n\nYou **are** here.",
      cached: false,
    });
    expect(answer.final_url).toBe(w.url("docs.example", "/a"));
  });

  it("says who it is", async () => {
    let agent: string | undefined;
    const { fetchIt, web: w } = await start((request, response) => {
      agent = request.headers["user-agent"];
      response.end("x");
    });
    await fetchIt({ url: w.url("docs.example") });
    expect(agent).toBe("Crux/1.2.3");
  });

  it("keeps a page for 15 minutes, and asks again then", async () => {
    const { fetchIt, web: w, wait } = await start();
    const url = w.url("docs.example");
    await fetchIt({ url });
    expect((await fetchIt({ url, as: "markdown" })).cached).toBe(true);
    expect(w.asked).toHaveLength(1);
    wait(15 * 60 * 1000);
    expect((await fetchIt({ url })).cached).toBe(false);
  });

  it("follows redirects on its host and www, and tells of those elsewhere", async () => {
    const { fetchIt, web: w } = await start((request, response) => {
      const to: Record<string, string> = {
        "/1": "/2",
        "/2": `http://www.docs.example:${w.port}/3`,
        "/out": `http://other.example:${w.port}/`,
      };
      const next = to[request.url ?? ""];
      if (next === undefined) response.end("end");
      else response.writeHead(302, { location: next }).end();
    });
    expect(await fetchIt({ url: w.url("docs.example", "/1") })).toMatchObject({
      text: "end",
      final_url: w.url("www.docs.example", "/3"),
      redirect_url: null,
    });
    expect(await fetchIt({ url: w.url("docs.example", "/out") })).toMatchObject({
      redirect_url: w.url("other.example", "/"),
    });
    expect(w.asked.filter((each) => each.startsWith("other"))).toEqual([]);
  });

  it.each([
    ["an endless one", (port: number) => `http://docs.example:${port}/`, "DRIVER"],
    ["to this machine", () => "http://127.0.0.1:9/", "PERMISSION"],
    ["to a file", () => "file:///etc/passwd", "INVALID"],
    ["to the metadata service", () => "http://169.254.169.254/latest", "PERMISSION"],
  ])("refuses a redirect: %s", async (_name, to, code) => {
    const { fetchIt, web: w } = await start((_request, response) =>
      response.writeHead(301, { location: to(w.port) }).end(),
    );
    expect((await codeOf(fetchIt({ url: w.url("docs.example") })))[0]).toBe(code);
  });

  it("refuses a name that leads into this network, also one that does so only the second time", async () => {
    const {
      fetchIt,
      web: w,
      device,
    } = await start(page, { "evil.io": ["10.0.0.1"], "rebind.io": ["127.0.0.1", "10.0.0.1"] });
    expect(await codeOf(fetchIt({ url: "https://evil.io/" }))).toEqual([
      "PERMISSION",
      "web: evil.io leads to 10.0.0.1, which is not public",
    ]);
    // checked and connected in one look: there is no second
    const file = await device.open("", O_RDWR, callerIn("/"));
    await file.plan?.(Buffer.from(JSON.stringify({ url: "https://rebind.io/" })));
    await codeOf(fetchIt({ url: "https://rebind.io/" }));
    expect((await codeOf(fetchIt({ url: "https://rebind.io/" })))[0]).toBe("PERMISSION");
    expect(w.asked).toEqual([]);
  });

  it("stops at 10 MB, also where they come packed", async () => {
    const big = gzipSync(Buffer.alloc(11 * 1024 * 1024, "a"));
    const { fetchIt, web: w } = await start((_request, response) =>
      response.setHeader("content-type", "text/plain").setHeader("content-encoding", "gzip").end(big),
    );
    expect(await codeOf(fetchIt({ url: w.url("docs.example") }))).toEqual([
      "INVALID",
      "web: the page has over 10 MB; find a smaller one",
    ]);
  });

  it("tells status and first words of a refusal, and of a proxy that blocks", async () => {
    const { fetchIt, web: w } = await start((request, response) => {
      if (request.url === "/proxy")
        response.writeHead(403, { "x-proxy-error": "blocked-by-allowlist", via: "gate.corp" }).end();
      else response.writeHead(404, { "content-type": "text/plain" }).end("no such page ".repeat(500));
    });
    const [code, message] = await codeOf(fetchIt({ url: w.url("docs.example", "/x") }));
    expect(code).toBe("DRIVER");
    expect(message).toContain(`${w.url("docs.example", "/x")} answered 404: no such page`);
    expect(message?.length).toBeLessThan(2_200);
    expect(await codeOf(fetchIt({ url: w.url("docs.example", "/proxy") }))).toEqual([
      "PERMISSION",
      "web: gate.corp does not let this host through",
    ]);
  });

  it("keeps what is no text in a file", async () => {
    const { fetchIt, web: w } = await start((_request, response) =>
      response.setHeader("content-type", "image/png").end(Buffer.from([1, 0, 2])),
    );
    const answer = await fetchIt({ url: w.url("docs.example") });
    expect(answer).toMatchObject({ text: null, body_path: "/var/out/c_1", bytes: 3 });
    const { uuid } = callerIn("/");
    expect([...readFileSync(join(dir, "outputs", uuid, "c_1"))]).toEqual([1, 0, 2]);
  });

  it("ends with its caller, while a server keeps it waiting", async () => {
    const abort = new AbortController();
    const { fetchIt, web: w } = await start(() => abort.abort());
    expect((await codeOf(fetchIt({ url: w.url("docs.example") }, abort.signal)))[0]).toBe("CANCELLED");
  });

  it.each([
    [{ url: 1 }, "web: url is required"],
    [{ url: "https://a.io/", method: "POST" }, 'web: unknown key "method"'],
    [{ url: "https://a.io/", headers: { cookie: "x" } }, 'web: header "cookie" cannot be sent'],
    [{ url: "https://a.io/", headers: { accept: "a\r\nb" } }, "web: header accept: not a value"],
  ])("refuses %j", async (request, message) => {
    const { fetchIt } = await start();
    expect(await codeOf(fetchIt(request as never))).toEqual(["INVALID", message]);
  });
});

it("PageCache holds no more than its bytes, the least recently used goes first", () => {
  const cache = new PageCache(() => 0, 10_000);
  const kept = (size: number) => ({ finalUrl: "", status: 200, contentType: "", body: Buffer.alloc(size) });
  cache.put("a", kept(3_000));
  cache.put("b", kept(3_000));
  cache.get("a");
  cache.put("c", kept(3_000));
  expect([cache.get("a"), cache.get("b"), cache.get("c")].map(Boolean)).toEqual([true, false, true]);
  cache.put("huge", kept(20_000));
  expect([cache.get("huge"), cache.bytes]).toEqual([undefined, 8_048]);
});

it("plainText() leaves out tags and what runs", () => {
  expect(plainText("<p>a &amp; b</p>\n<script>x</script><i>c</i>")).toBe("a & b\nc");
});
