/**
 * The power is cut at every moment that matters while a daemon works: when a client is answered, when a command acts, around
 * each sync. What the disk then holds is made from a record of the daemon's own calls (traced-disk.ts), with nothing that was
 * not synced, or with any part of it. What was acknowledged is there, each command that acted has its intent, fsck finds no
 * damage, and a daemon starts on it. More moments: CRUX_POWER_CUTS=1000 vitest run --project system test/faults/power-cut.test.ts
 */
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/time/system-clock.ts";
import { checkJournal } from "../../src/store/offline/check.ts";
import { Pace } from "../../src/store/offline/pace.ts";
import { HEAP_FLAGS } from "../../src/wire/client/daemon.ts";
import { inTurn, modelEnv } from "../harness/model.ts";
import { Wire } from "../harness/wire.ts";
import { settled, World } from "../harness/world.ts";
import { text, toolUse } from "../model-server/reply.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { noStrace } from "./strace.ts";
import { callsIn, type TracedCall, TracedDisk, traced } from "./traced-disk.ts";

const reason = noStrace();
const CUTS = Number(process.env.CRUX_POWER_CUTS ?? 30);
const SEED = 20_261_123;
const MAIN = fileURLToPath(new URL("../../dist/main.cjs", import.meta.url));
const AGENTS = 3;
const STEPS = 3;
const RESERVE_BYTES = 16 * 1024 * 1024;
/** More than stays in a record: a blob. */
const LONG = "long ".repeat(20_000);

let world: World;
let server: ModelServer;
let scratch: string;
beforeEach(async () => {
  const acts = Array.from({ length: STEPS }, (_, n) =>
    toolUse({ name: "bash", input: { command: `echo step-${n} >> ledger` } }),
  );
  server = await startModelServer({ script: [{ default: inTurn(...acts, text("All done.")) }] });
  world = new World(modelEnv(server));
  world.settings({ sandbox: { mode: "off" } });
  scratch = mkdtempSync(join(tmpdir(), "crux-cut-"));
});
afterEach(async () => {
  await world.close();
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
});

const journalOf = (state: string) => join(state, "crux/journal");

/** A request whose answer can be found in what was recorded. */
async function told(id: string, method: string, payload: object): Promise<Record<string, unknown>> {
  await using wire = await Wire.open(world.socket);
  await wire.ask("ping", {});
  wire.send(`${JSON.stringify({ id, method, payload })}\n`);
  const reply = await wire.next();
  expect([id, reply?.ok, reply?.error]).toEqual([id, true, undefined]);
  return reply?.payload ?? {};
}

/** Starts agents, writes to them, waits for their ends: all is answered. */
async function work(n: number): Promise<void> {
  const start = { intent: `job-${n}`, cwd: world.work, env: world.env, detach: true };
  const { pid } = await told(`spawn:${n}`, "spawn", {
    ...start,
    permission_mode: "bypass",
    session: n === 0,
  });
  if (n === 0) await told(`mail:${n}`, "mail.send", { pid, text: `words-${n} ${LONG}` });
  else await told(`wait:${pid}`, "process.wait", { pid });
}

/** What the journal must hold for what had happened outside before the cut. */
interface Promised {
  readonly spawned: string[];
  readonly mailed: string[];
  readonly ended: number[];
  readonly acted: string[];
}

function promisedBy(calls: readonly TracedCall[], cut: number): Promised {
  const [answered, acted]: [string[], string[]] = [[], []];
  for (const { name, from, path, bytes } of calls) {
    if (from > cut || !/^(write|writev|sendto|sendmsg)$/.test(name)) continue;
    const said = Buffer.concat(bytes).toString();
    if (path.endsWith("/ledger")) acted.push(said.trim());
    for (const [, id] of said.matchAll(/"id":"(\w+:\d+)"/g))
      if (said.includes('"ok":true')) answered.push(id!);
  }
  const of = (what: string) =>
    answered.flatMap((id) => (id.startsWith(`${what}:`) ? id.slice(what.length + 1) : []));
  return { spawned: of("spawn"), mailed: of("mail"), ended: of("wait").map(Number), acted };
}

function expectKept(dir: string, { spawned, mailed, ended, acted }: Promised): void {
  using db = new DatabaseSync(join(dir, "journal.db"));
  const bodies = (kind: string) =>
    db.prepare("SELECT pid, body FROM records WHERE kind = ? ORDER BY lsn").all(kind);
  const intents = bodies("process.spawned").map(({ body }) => JSON.parse(String(body)).intent);
  expect(intents).toEqual(expect.arrayContaining(spawned.map((n) => `job-${n}`)));
  expect(bodies("mail.put").length).toBeGreaterThanOrEqual(mailed.length);
  expect(bodies("process.exited").map(({ pid }) => pid)).toEqual(expect.arrayContaining(ended));
  const counted = (words: readonly string[]) =>
    Array.from({ length: STEPS }, (_, n) => words.filter((each) => each.includes(`step-${n}`)).length);
  const [begun, done] = [counted(bodies("call.intent").map(({ body }) => String(body))), counted(acted)];
  for (const [n, count] of done.entries()) expect([n, begun[n]! >= count]).toEqual([n, true]);
}

/** mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe.skipIf(reason !== undefined)(
  `a power cut${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    it(`at ${CUTS} moments: what was acknowledged holds, whatever of the rest the disk has`, async () => {
      const root = journalOf(join(world.dir, "state"));
      mkdirSync(root, { recursive: true, mode: 0o700 });
      // else the daemon would fill it, and all of that be recorded
      writeFileSync(join(root, "reserve"), Buffer.alloc(RESERVE_BYTES), { mode: 0o600 });
      const log = join(scratch, "trace");
      const daemon = traced(log, [process.execPath, ...HEAP_FLAGS, MAIN, "daemon", "--internal"], {
        cwd: "/",
        env: world.env,
        stdio: "ignore",
      });
      const over = once(daemon, "exit");
      await settled(
        () => world.daemonPid,
        (pid) => pid !== undefined,
      );
      await Promise.all(Array.from({ length: AGENTS }, (_, n) => work(n)));
      // a deed can be seen in its file before strace has recorded that its call is over
      await settled(
        () => callsIn(log).filter(({ name, path }) => name === "write" && path.endsWith("/ledger")).length,
        (deeds) => deeds >= AGENTS * STEPS,
      );
      process.kill(world.daemonPid!, "SIGKILL");
      await over;

      const calls = callsIn(log).toSorted((a, b) => a.to - b.to);
      const moments = momentsOf(calls, root);
      const random = randomFrom(SEED);
      const chosen = Array.from({ length: CUTS - 1 }, (_, n) => ((n + random()) / CUTS) * moments.length);
      const disk = new TracedDisk(root);
      let [next, kept, last] = [0, 0, ""];
      for (const at of [...chosen, moments.length - 1]) {
        const cut = moments[Math.floor(at)]!;
        for (; calls[next] !== undefined && calls[next]!.to <= cut; next++) disk.take(calls[next]!);
        const promised = promisedBy(calls, cut);
        kept = Object.values(promised).flat().length;
        for (const isKept of [() => false, () => random() < 0.5]) {
          const dir = mkdtempSync(join(scratch, "disk-"));
          disk.writeTo(dir, isKept);
          await expectWhole(dir, promised);
          last = dir;
        }
      }
      // the next daemon starts on the last of these disks
      rmSync(root, { recursive: true });
      cpSync(last, root, { recursive: true });
      const checked = await world.crux(["fsck", "--full"]);
      expect([checked.code, checked.stderr]).toEqual([0, ""]);
      expect((await world.crux(["ps"])).code).toBe(0);
      expect((await world.crux(["daemon", "stop"])).code).toBe(0);
      // all that was promised at the end: a record that finds nothing proves nothing
      expect(kept).toBe(AGENTS + 1 + (AGENTS - 1) + AGENTS * STEPS);
    });
  },
);

/** Just after each answer and each deed begins, and just before and after each sync of the journal ends. */
function momentsOf(calls: readonly TracedCall[], root: string): readonly number[] {
  const all = calls.flatMap(({ name, path, from, to, bytes }): readonly number[] => {
    if (name.endsWith("sync") && path.startsWith(root)) return [to - 1, to];
    const isTold = path.endsWith("/ledger") || bytes.some((text) => /"id":"\w+:\d+"/.test(text.toString()));
    return isTold && !name.startsWith("open") ? [from, to] : [];
  });
  return [...new Set(all)].toSorted((a, b) => a - b);
}

async function expectWhole(dir: string, promised: Promised): Promise<void> {
  const pace = new Pace(systemClock, 1);
  const options = { full: true, only: [], isAlone: true, pace, progress: () => {} };
  const { findings } = await checkJournal(dir, options);
  expect(findings.filter(({ severity }) => severity === "damage")).toEqual([]);
  if (Object.values(promised).flat().length > 0) expectKept(dir, promised);
}
