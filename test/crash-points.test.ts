/**
 * The daemon is killed at random moments while agents are started, paused, written to and let go. What a client was told holds:
 * a pause outlives the daemon, a message is read once, no command runs twice, no pid is used twice.
 * More rounds: CRUX_CRASHES=200 npx vitest run --project system test/crash-points.test.ts
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pass } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SIGNALS } from "../src/abi/process.ts";
import { modelEnv } from "./harness/model.ts";
import { Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const ROUNDS = Number(process.env.CRUX_CRASHES ?? 12);
const SEED = Number(process.env.CRUX_CRASH_SEED ?? 20_261_122);
const AGENTS = 6;
/** From the moment that the first agents of a round are there to the kill, at most. */
const WINDOW_MS = 250;
/** The same from requests that are sent again; they take about half as long. */
const KEYED_WINDOW_MS = 200;
/** A command is about to ask. */
const COMMAND_MS = 150;

/** One agent, and what its clients were told. */
interface Job {
  readonly name: string;
  readonly pid: number;
  /** The last order was to pause, and it was acknowledged. */
  isHeld: boolean;
  readonly mail: string[];
}

let world: World;
let server: ModelServer;
let state = SEED;
const jobs: Job[] = [];

/** mulberry32. */
function random(below: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

const nameIn = (messages: unknown): string => /job-\d+/.exec(JSON.stringify(messages))?.[0] ?? "";

// a second try finds nothing of the first
beforeEach(async () => {
  state = SEED;
  jobs.length = 0;
  world = new World();
  server = await startModelServer({
    script: (request) => {
      if (request.assistantTurns > 1 || nameIn(request.messages) === "") return text("Done.");
      const command = `echo ${nameIn(request.messages)}-${request.assistantTurns} >> ran; sleep 0.03`;
      return toolUse({ name: "bash", input: { command } });
    },
  });
  Object.assign(world.env, modelEnv(server));
});
afterEach(async () => {
  await server.close();
  await world.close();
});

/** undefined: the daemon died before it answered. */
async function told(method: string, payload: object): Promise<Record<string, unknown> | undefined> {
  try {
    await using wire = await Wire.open(world.socket);
    const reply = await wire.ask(method, payload);
    if (reply === undefined) return undefined;
    return reply.ok === true ? (reply.payload ?? {}) : { refused: reply.error?.code };
  } catch {
    return undefined;
  }
}

/** Starts an agent and gives it orders until it ends or the daemon does. `begun`: it was started, or will not be. */
function work(name: string): { readonly begun: Promise<unknown>; readonly over: Promise<void> } {
  const begun = begin(name);
  return { begun, over: begun.then((job) => (job === undefined ? undefined : orders(job))) };
}

async function begin(name: string): Promise<Job | undefined> {
  const request = { intent: name, cwd: world.work, env: world.env, detach: true, permission_mode: "bypass" };
  const spawned = await told("spawn", { ...request, max_steps: 20 });
  if (spawned?.pid === undefined) return undefined;
  const job: Job = { name, pid: Number(spawned.pid), isHeld: false, mail: [] };
  jobs.push(job);
  return job;
}

async function orders(job: Job): Promise<void> {
  await pass(random(40));
  for (let n = 0; n < 6; n++) if (!(await order(job, n))) return;
}

async function order(job: Job, n: number): Promise<boolean> {
  const { pid } = job;
  if (random(3) === 0) {
    const words = `${job.name}-mail-${n}`;
    const sent = await told("mail.send", { pid, text: words });
    if (sent !== undefined && sent.refused === undefined) job.mail.push(words);
    return sent !== undefined && sent.refused === undefined;
  }
  const signal = job.isHeld && random(3) === 0 ? SIGNALS.SIGRESUME : SIGNALS.SIGPAUSE;
  // an order that is not acknowledged may have been carried out
  if (signal === SIGNALS.SIGRESUME) job.isHeld = false;
  if (signal === SIGNALS.SIGPAUSE) return hold(job);
  return isReached(pid, await told("process.signal", { pid, signal }));
}

async function hold(job: Job | undefined): Promise<boolean> {
  if (job === undefined) return false;
  const { pid } = job;
  const isHeld = isReached(pid, await told("process.signal", { pid, signal: SIGNALS.SIGPAUSE }));
  if (isHeld) job.isHeld = true;
  return isHeld;
}

function isReached(pid: number, done: Record<string, unknown> | undefined): boolean {
  return (done?.pids as number[] | undefined)?.includes(pid) === true;
}

interface Exit {
  readonly code: number;
  readonly reason: string;
}

/** By pid, from the journal. */
function exits(): ReadonlyMap<number, Exit> {
  const db = new DatabaseSync(join(world.dir, "state/crux/journal/journal.db"), { readOnly: true });
  try {
    const rows = db.prepare("SELECT pid, body FROM records WHERE kind = 'process.exited' ORDER BY lsn").all();
    return new Map(rows.map(({ pid, body }) => [Number(pid), JSON.parse(String(body)) as Exit]));
  } finally {
    db.close();
  }
}

async function paused(): Promise<ReadonlySet<number>> {
  const { stdout } = await world.crux(["ps", "--json", "-v"]);
  const { data } = JSON.parse(stdout) as { data: { processes: { pid: number; activity: string | null }[] } };
  return new Set(data.processes.filter(({ activity }) => activity === "paused").map(({ pid }) => pid));
}

it(`${ROUNDS} deaths of the daemon at random moments: what was acknowledged holds`, {
  timeout: 180_000 + ROUNDS * 4_000,
}, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    expect((await world.crux(["ps"])).code).toBe(0);
    const names = Array.from({ length: AGENTS }, (_, n) => `job-${round * AGENTS + n}`);
    const works = names.map(work);
    await Promise.all(works.slice(0, random(AGENTS)).map(({ begun }) => begun));
    await pass(random(WINDOW_MS));
    // on a busy machine it may happen that the orders of chance reach nobody
    if (round === ROUNDS - 1) await hold(await begin(`job-${ROUNDS * AGENTS}`));
    process.kill(world.daemonPid!, "SIGKILL");
    await Promise.all(works.map(({ over }) => over));
    const back = await paused();
    const left = exits();
    for (const { name, pid } of jobs.filter(({ isHeld }) => isHeld))
      expect([name, back.has(pid) || left.get(pid)?.reason === "completed"]).toEqual([name, true]);
  }
  expect(new Set(jobs.map(({ pid }) => pid)).size).toBe(jobs.length);
  await goOn();
});

/** All that is still there goes on to its end; then each command has run once, each message was read once. */
async function goOn(): Promise<void> {
  const back = await paused();
  expect(back.size).toBeGreaterThan(0);
  for (const pid of back) await told("process.signal", { pid, signal: SIGNALS.SIGRESUME, env: world.env });
  for (const pid of back) await told("process.wait", { pid });
  const ran = existsSync(join(world.work, "ran")) ? world.file("ran").trim().split("\n") : [];
  expect(ran.filter((line, at) => ran.indexOf(line) !== at)).toEqual([]);
  for (const { name, mail, pid } of jobs.filter((job) => back.has(job.pid))) {
    const said = server.requests.map(({ messages }) => JSON.stringify(messages));
    const last = said.findLast((messages) => nameIn(messages) === name) ?? "";
    expect([name, exits().get(pid)?.reason]).toEqual([name, "completed"]);
    for (const words of mail) expect([words, last.split(words).length - 1]).toEqual([words, 1]);
  }
}

/** A request that acts, by its key, and what it made once: a record of this kind that holds these words. */
interface Keyed {
  readonly method: string;
  readonly payload: Record<string, unknown>;
  readonly kind: string;
  readonly words: string;
}

/** Of each method two. `talk`: a session that has answered once. */
function keyed(round: number, talk: number): Keyed[] {
  const around = { cwd: world.work, env: world.env };
  return [0, 1].flatMap((n) => {
    const of = (method: string, kind: string, payload: (words: string) => object): Keyed => {
      const words = `once-${round}-${n}-${method}.`;
      return { method, kind, words, payload: { ...payload(words), idempotency_key: words } };
    };
    return [
      of("spawn", "process.spawned", (intent) => ({ ...around, intent, detach: true })),
      of("mail.send", "mail.put", (text) => ({ pid: talk, text })),
      of("session.say", "mail.put", (text) => ({ pid: talk, text, client: "once" })),
      of("compose.up", "process.spawned", (words) => {
        const name = words.replace(/\W/g, "-").slice(0, -1);
        const file = { name, services: { [words]: { command: ["sleep", "300"] } } };
        return { file, dir: world.work, detach: true, env: world.env };
      }),
      of("process.fork", "mail.put", (text) => ({ pid: talk, text, wake: true, env: world.env })),
    ];
  });
}

/** The pid of a session that has answered. */
async function talking(): Promise<number> {
  const request = { intent: "Hello.", session: true, detach: true, cwd: world.work, env: world.env };
  const pid = Number((await told("spawn", request))?.pid);
  const steps = async () => ((await told("process.steps", { pid }))?.steps ?? []) as unknown[];
  expect((await settled(steps, ({ length }) => length > 1)).length).toBeGreaterThan(1);
  return pid;
}

/** Pids of the records that a request made, from the journal. */
function madeBy({ kind, words }: Pick<Keyed, "kind" | "words">): number[] {
  const db = new DatabaseSync(join(world.dir, "state/crux/journal/journal.db"), { readOnly: true });
  try {
    const rows = db.prepare("SELECT pid, body FROM records WHERE kind = ?").all(kind);
    const has = ({ intent = "", data = "" }: { intent?: string; data?: string }): boolean =>
      `${intent}${Buffer.from(data, "base64")}`.includes(words);
    return rows.filter(({ body }) => has(JSON.parse(String(body)))).map(({ pid }) => Number(pid));
  } finally {
    db.close();
  }
}

it(`${ROUNDS} deaths of the daemon around requests that are sent again: each happens once`, {
  timeout: 180_000 + ROUNDS * 10_000,
}, async () => {
  let answered = 0;
  let cutOff = 0;
  expect((await world.crux(["ps"])).code).toBe(0);
  const talk = await talking();
  for (let round = 0; round < ROUNDS; round++) {
    const requests = keyed(round, talk);
    // a command repeats its own request
    const command = world.crux([`once-${round}-cli.`, "--detach", "--quiet"]);
    await pass(COMMAND_MS + random(COMMAND_MS));
    const asked = Promise.all(requests.map(({ method, payload }) => told(method, payload)));
    await pass(random(KEYED_WINDOW_MS));
    process.kill(world.daemonPid!, "SIGKILL");
    const first = await asked;
    const { code, stdout, stderr } = await command;
    expect((await world.crux(["ps"])).code).toBe(0);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("closed")]);
    expect(madeBy({ kind: "process.spawned", words: `once-${round}-cli.` })).toEqual([Number(stdout)]);
    const again = await Promise.all(requests.map(({ method, payload }) => told(method, payload)));
    for (const [n, request] of requests.entries()) {
      const made = madeBy(request);
      expect([request.words, made.length]).toEqual([request.words, 1]);
      if (first[n] === undefined) cutOff++;
      else answered++;
      for (const reply of [first[n] ?? again[n], again[n]]) {
        expect([request.words, reply?.refused, reply?.seq]).toEqual([
          request.words,
          undefined,
          again[n]?.seq,
        ]);
        expect([request.words, reply?.pid ?? made[0]]).toEqual([request.words, made[0]]);
      }
    }
    const other = { ...requests[0]!.payload, cwd: world.home };
    expect(await told("spawn", other)).toEqual({ refused: "CONFLICT" });
  }
  // the window is where it must be: some heard of it, and some did not
  expect([answered > 0, cutOff > 0]).toEqual([true, true]);
});
