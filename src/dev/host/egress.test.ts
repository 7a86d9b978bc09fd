/** Hosts that are allowed, from inside a real sandbox to a real server of the test: by name alone, whatever is tried. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isExecutable } from "../../lib/program-file.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { HostProcesses } from "./exec.ts";
import { SandboxFinder } from "./sandbox/probe.ts";
import { Sandboxes } from "./sandbox/sandbox.ts";
import { bashSpec } from "./testing.ts";

const never = new AbortController().signal;
const state = new SandboxFinder({ keeper: undefined }).get();
const own = realpathSync(mkdtempSync("/var/tmp/crux-egress-test-"));
const asked: string[] = [];
const reached: string[] = [];
let server: Server;
let heard = "";

/** Every address of the test's resolver is public, and leads to the server of the test. */
const egress = {
  lookup: async (host: string) => {
    asked.push(host);
    return ["93.184.215.14"];
  },
  connect: (address: string, port: number) => {
    reached.push(`${address}:${port}`);
    return connect({ port: portOf(server), host: "127.0.0.1", allowHalfOpen: true });
  },
};
function hostBy(forward: "perl" | "node" | undefined): HostProcesses {
  const sandboxes = new Sandboxes({ dir: join(own, `sb-${forward}`), egress, forward });
  const pipesDir = join(own, `pipes-${forward}`);
  return new HostProcesses({ kernelId: `k-egress-${forward}`, epoch: 1, pipesDir, sandboxes });
}

/** As it is, and where there is no perl. */
const hosts = [undefined, "node" as const].map((forward) => ({
  by: forward ?? "what is here",
  exec: hostBy(forward),
}));
let { exec } = hosts[0] ?? { exec: hostBy(undefined) };

const portOf = (from: Server) => (from.address() as { port: number }).port;

beforeAll(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      heard += data.toString("latin1");
      socket.write(data);
    });
    socket.on("end", () => socket.end("over"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  for (const host of hosts) await host.exec.close();
  server.close();
  rmSync(own, { recursive: true, force: true });
});
beforeEach(() => {
  asked.length = 0;
  reached.length = 0;
  heard = "";
});

async function run(script: string, allow = ["a.example"]) {
  const sandbox = { write: [], protect: [], hide: ["/run"], show: [], network: { allow, deny: [] } };
  const { spec, out } = bashSpec(script, { cwd: "/", sandbox, isMerged: true });
  const { code, signal, error, violations = [] } = await exec.run(spec, never).exited;
  if (error !== undefined) throw error;
  return { code, signal, out: out().trim(), violations };
}

const js = (text: string) =>
  `${shellWord(process.execPath)} -e '${text.replaceAll("'", `"`).replaceAll("\n", " ")}'`;
/** A client that goes by the proxy, as curl does, then speaks TLS and says to whom. */
const tls = (to: string, servername: string) =>
  js(`const s = require("net").connect(3128, "127.0.0.1", () => s.write("CONNECT ${to} HTTP/1.1\\r\\n\\r\\n"));
    s.on("error", () => {});
    s.once("data", (d) => { const line = String(d).split("\\r\\n")[0]; console.log(line);
      if (!line.includes(" 200 ")) return;
      require("tls").connect({ socket: s, servername: "${servername}" }).on("error", (e) => { console.log(e.code); process.exit(); }); });`);

describe.runIf(state.available).each(hosts)("a sandboxed program with hosts allowed, by $by", (host) => {
  beforeEach(() => {
    exec = host.exec;
  });

  it("connects to the name that is allowed, and is heard there", async () => {
    const { out, violations } = await run(tls("a.example:443", "a.example"));
    // the server of the test hands back what it hears, which is no answer in TLS
    expect(out.split("\n")).toEqual([
      "HTTP/1.1 200 Connection established",
      expect.stringMatching(/SSL|EPROTO/),
    ]);
    expect([asked, reached, violations]).toEqual([["a.example"], ["93.184.215.14:443"], []]);
    expect(heard).toContain("a.example");
  });

  it.each([
    ["b.example:443", "b.example"],
    ["93.184.215.14:443", "a.example"],
    ["127.0.0.1:443", "a.example"],
    ["a.example:8443", "a.example"],
  ])("does not reach %s", async (to, name) => {
    const { out, violations } = await run(tls(to, name));
    expect(out).toMatch(/^HTTP\/1.1 403 /);
    expect([asked, reached, heard, violations.length]).toEqual([[], [], "", 1]);
  });

  it("does not reach another server behind the allowed name", async () => {
    const { out, violations } = await run(tls("a.example:443", "b.example"));
    expect(out.split("\n")).toEqual(["HTTP/1.1 200 Connection established", "ECONNRESET"]);
    expect(violations).toEqual(["network: a.example:443: TLS for another server, b.example"]);
    expect(heard).toBe("");
  });

  it("finds no name by itself, and no way past the proxy", async () => {
    const script = [
      js(`require("dns").resolve4("a.example", (e) => console.log("query", e.code));`),
      js(`require("dns").lookup("a.example", (e) => console.log("lookup", e ? "fails" : "found"));`),
      js(`require("net").connect(443, "93.184.215.14").on("error", (e) => console.log("direct", e.code));`),
      js(
        `const u = require("dgram").createSocket("udp4"); u.send("x", 53, "9.9.9.9", (e) => { console.log("udp", e.code); u.close(); });`,
      ),
      js(
        `require("net").connect(${portOf(server)}, "127.0.0.1").on("error", (e) => console.log("host", e.code));`,
      ),
    ].join("\n");
    const { out } = await run(script);
    expect(out.split("\n")).toEqual([
      expect.stringMatching(/^query E/),
      "lookup fails",
      "direct ENETUNREACH",
      "udp ENETUNREACH",
      "host ECONNREFUSED",
    ]);
    expect([asked, reached, heard]).toEqual([[], [], ""]);
  });

  it("speaks as much as it likes both ways at once, and hears the end of each", async () => {
    const { out } = await run(
      js(`const s = require("net").connect({ port: 3128, host: "127.0.0.1", allowHalfOpen: true }, () => s.write("CONNECT a.example:22 HTTP/1.1\\r\\n\\r\\n"));
        let got = 0; let tail = ""; s.once("data", () => { s.on("data", (d) => { got += d.length; tail = (tail + d.toString("latin1")).slice(-4); });
        s.on("end", () => { console.log(got, tail); s.destroy(); }); for (let i = 0; i < 64; i++) s.write(Buffer.alloc(65536, 46)); s.end(); });`),
      ["a.example:22"],
    );
    expect(out).toBe(`${64 * 65536 + 4} over`);
  });

  it("talks over many connections at once", async () => {
    const { out } = await run(
      js(`const net = require("net"); let done = 0; for (let i = 0; i < 40; i++) { const s = net.connect(3128, "127.0.0.1", () => s.write("CONNECT a.example:22 HTTP/1.1\\r\\n\\r\\n"));
        s.once("data", () => { s.once("data", (d) => { if (String(d) === "n" + i) done++; s.end(); }); s.write("n" + i); }); } process.on("exit", () => console.log(done));`),
      ["a.example:22"],
    );
    expect(out).toBe("40");
  });

  it("ends as its program ends, with its words and its signal", async () => {
    expect(await run("echo said; exit 7")).toMatchObject({ code: 7, out: "said" });
    expect(await run("kill -s USR1 $$")).toMatchObject({ code: 138 });
  });

  it("ends with TERM when it is ended, and leaves nothing", async () => {
    const sandbox = {
      write: [],
      protect: [],
      hide: [],
      show: [],
      network: { allow: ["a.example"], deny: [] },
    };
    const { spec, out } = bashSpec(
      "trap 'echo heard; exit 3' TERM; echo ready; while :; do sleep 0.02; done",
      {
        cwd: "/",
        sandbox,
        isMerged: true,
      },
    );
    let ready = () => {};
    const isReady = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const child = exec.run(
      {
        ...spec,
        onOutput: (stream, chunk) => {
          ready();
          return spec.onOutput(stream, chunk);
        },
      },
      never,
    );
    await isReady;
    await child.kill();
    expect([(await child.exited).code, out()]).toEqual([3, expect.stringContaining("heard\n")]);
    expect(exec.live).toBe(0);
  });
});

it.runIf(state.available && isExecutable("/usr/bin/perl"))(
  "the forwarder is perl where there is perl",
  async () => {
    exec = hosts[0]?.exec ?? exec;
    const { out } = await run("tr '\\0' ' ' < /proc/$PPID/cmdline | head -c 20");
    expect(out).toMatch(/^\/usr\/bin\/perl -f -e/);
  },
);
