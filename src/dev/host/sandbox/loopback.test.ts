import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import type { ExecChild } from "../../../kernel/ports/host.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { findSystemProgram } from "../../program.ts";
import { until } from "../../testing.ts";
import { HostProcesses } from "../exec.ts";
import { bashSpec, confinersHere, openInPrograms } from "../testing.ts";
import { Sandboxes } from "./sandbox.ts";

const own = realpathSync(mkdtempSync("/var/tmp/crux-loopback-"));
const sandboxes = new Sandboxes({ dir: join(own, "sb"), ledgerDir: join(own, "ledger") });
const networks = confinersHere().filter(({ kind }) => kind !== "landlock");
const confiners = (findSystemProgram("nsenter") === undefined ? [] : networks).map(({ kind, by }) => {
  const pipesDir = join(own, `pipes-${kind}`);
  return { kind, exec: new HostProcesses({ kernelId: "k-loop", epoch: 1, pipesDir, sandboxes, ...by }) };
});
let exec: HostProcesses;
afterAll(async () => {
  rmSync(own, { recursive: true, force: true });
});

let one = new AbortController();
let other = new AbortController();
beforeEach(() => {
  [one, other] = [new AbortController(), new AbortController()];
});
afterEach(() => {
  one.abort();
  other.abort();
});

const OFF: SandboxProfile = { write: [], protect: [], hide: ["/run"], show: [], network: "off" };
const node = shellWord(process.execPath);
const SERVES = `exec ${node} -e 'require("net").createServer((s)=>s.end("served\\n")).listen(8123,"127.0.0.1",()=>console.log("ready"))'`;
const ASKS = `${node} -e 'require("net").connect(8123,"127.0.0.1").on("error",(e)=>console.log(e.code)).on("data",(d)=>console.log(String(d).trim()))'`;

function start(script: string, of: AbortController, sandbox = OFF): { child: ExecChild; out(): string } {
  const process = { id: of === one ? "one" : "other", until: of.signal };
  const { spec, out } = bashSpec(script, { cwd: own, sandbox, isMerged: true, process });
  return { child: exec.run(spec, new AbortController().signal), out };
}

async function run(script: string, of: AbortController, sandbox = OFF): Promise<string> {
  const { child, out } = start(script, of, sandbox);
  const { error } = await child.exited;
  if (error !== undefined) throw error;
  return out();
}

/** The number of loopbacks that are held open. */
const heldOpen = () =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith("net:[");
    } catch {
      return false;
    }
  }).length;

describe.each(confiners)("the loopback of a process, by $kind", ({ exec: its }) => {
  beforeAll(() => {
    exec = its;
  });
  afterAll(() => its.close());

  it("is one for its programs, of whatever rights, and of no other process, nor of one with hosts allowed", async () => {
    const { child, out } = start(SERVES, one);
    await until(() => out() === "ready\n", "it listens");
    expect(await run(ASKS, one)).toBe("served\n");
    expect(await run(ASKS, one, { ...OFF, write: [own] })).toBe("served\n");
    expect(await run(ASKS, other)).toBe("ECONNREFUSED\n");
    expect(await run(ASKS, one, { ...OFF, network: { allow: ["a.example"], deny: [] } })).toBe(
      "ECONNREFUSED\n",
    );
    await child.kill();
    expect(await run(ASKS, one)).toBe("ECONNREFUSED\n");
  });

  it("is no network, gives no rights in it, and leaves no descriptor of it open", async () => {
    const looks = `grep -c : /proc/net/dev; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'
      ls /proc/self/fd | tr '\\n' ' '; ip link set lo down 2>&1; nsenter --net=/proc/1/ns/net true 2>&1; unshare -U true 2>&1`;
    const out = await run(looks, one);
    expect(out).toMatch(/^1\nCapEff:0+\nCapBnd:0+\nNoNewPrivs:1\nSeccomp:2\n0 1 2 /);
    expect(out).toContain(`\n${openInPrograms()}`);
    expect(out).toMatch(/nsenter: .*(not permitted|failed)/);
    expect(out).toMatch(/unshare failed: Operation not permitted/);
  });

  it("ends with its process", async () => {
    await run("true", other);
    await run("true", one);
    await until(() => heldOpen() === 3, "those of both, and the next");
    one.abort();
    await until(() => heldOpen() === 2, "what held it is closed");
  });

  it("is made for many at once, and closed with them", async () => {
    await run("true", one);
    await until(() => heldOpen() === 2, "that of one, and the next");
    const all = Array.from({ length: 8 }, () => new AbortController());
    const ids = all.map((each, i) => ({ id: `many-${i}`, until: each.signal }));
    const outs = await Promise.all(
      ids.map(async (process) => {
        const { spec, out } = bashSpec("echo on", { cwd: own, sandbox: OFF, process });
        await exec.run(spec, new AbortController().signal).exited;
        return out();
      }),
    );
    expect(outs).toEqual(Array.from({ length: 8 }, () => "on\n"));
    for (const each of all) each.abort();
    await until(() => heldOpen() === 2, "that of one, and the next");
  });
});
