/**
 * A session of 200 steps, and a daemon that is killed with SIGKILL at one moment of its journal after another: before and after
 * a commit, a sync, a write, a rename, at boot as in the middle of the work. What is counted lies outside Crux: a ledger that
 * each command writes a line to. The model does what a careful one would: told that an outcome is unknown it looks, and
 * repeats only what did not happen. More: CRUX_CRASH_POINTS=1000 npx vitest run --project system test/journal-crashes.test.ts
 * All moments of a team's run, about 300 of 4 s: npm run crash -- team; from the 34th on: CRUX_TEAM_MOMENTS=34- npm run crash -- team
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { unconfined } from "./harness/confined.ts";
import { DoomedDaemon, momentsMet } from "./harness/doomed-daemon.ts";
import { modelEnv } from "./harness/model.ts";
import { TeamLives } from "./harness/team-lives.ts";
import type { Wire } from "./harness/wire.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const POINTS = Number(process.env.CRUX_CRASH_POINTS ?? 200);
const STEPS = Math.max(200, POINTS);
/** The kill comes at the 1st to the n-th moment of a daemon's life, in an order that repeats none before all were had. */
const MOMENTS = 41;
const STRIDE = 16;
/** Lives of a daemon whose agents have a limit. */
const LIMITED_LIVES = Math.ceil(POINTS / 8);
/** The moments of a team's run that its daemon dies at; `all`, or `34-`: one after another, until a run has no more of them. */
const TEAM_MOMENTS = process.env.CRUX_TEAM_MOMENTS ?? "110";
/** The moments of a daemon's start, about: those are the other test's. */
const AFTER_BOOT = 12;

let world: World;
let server: ModelServer;
/** What the model was last shown of the conversation. */
let shown: ModelRequest["messages"] = [];

interface Asked {
  readonly do: "add" | "look" | "write";
  readonly step: number;
}

function next(request: ModelRequest): ReturnType<typeof text> {
  shown = request.messages;
  const asked = lastAsked(request);
  if (asked === undefined) return order({ do: "add", step: 1 });
  const result = lastResult(request);
  const { step } = asked;
  if (result.includes("before anything was written")) return order(asked);
  if (result.includes("outcome unknown")) return order(asked.do === "write" ? asked : { do: "look", step });
  if (asked.do === "look" && result.trim() === "0") return order({ do: "add", step });
  return step >= STEPS
    ? text("All done.")
    : order({ do: (step + 1) % 4 === 0 ? "write" : "add", step: step + 1 });
}

function order({ do: what, step }: Asked) {
  if (what === "write")
    return toolUse({ name: "write", input: { file_path: `out-${step}`, content: `${step}\n` } });
  const command = what === "add" ? `echo ${step} >> ledger` : `grep -cx ${step} ledger || true`;
  return toolUse({ name: "bash", input: { command } });
}

function lastAsked({ messages }: ModelRequest): Asked | undefined {
  const calls = messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_use"));
  const input = calls.at(-1)?.input as { command?: string; file_path?: string } | undefined;
  if (input === undefined) return undefined;
  if (input.file_path !== undefined) return { do: "write", step: Number(/\d+$/.exec(input.file_path)?.[0]) };
  const step = Number(/\d+/.exec(input.command ?? "")?.[0]);
  return { do: input.command?.startsWith("echo") === true ? "add" : "look", step };
}

function lastResult({ messages }: ModelRequest): string {
  const results = messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_result"));
  return JSON.stringify(results.at(-1) ?? "") === '""' ? "" : textOf(results.at(-1));
}

function textOf(result: unknown): string {
  const { content } = result as { content?: unknown };
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? "").join("") : "";
}

beforeEach(async () => {
  shown = [];
  world = new World();
  // a look before the first line is there finds none, and is no error
  world.write("ledger", "");
  server = await startModelServer({ script: next, keepRequests: 4 });
});
afterEach(async () => {
  await server.close();
  await world.close();
});

interface Seen {
  readonly lsn: number;
  readonly hash: string;
}

function journal<T>(act: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(world.dir, "state/crux/journal/journal.db"), { readOnly: true });
  try {
    return act(db);
  } finally {
    db.close();
  }
}

/** undefined: killed before the first record. */
function newest(): Seen | undefined {
  return journal((db) => {
    const row = db.prepare("SELECT lsn, hex(hash) AS hash FROM records ORDER BY lsn DESC LIMIT 1").get();
    return row === undefined ? undefined : { lsn: Number(row.lsn), hash: String(row.hash) };
  });
}

function hashAt(lsn: number): string {
  return journal((db) =>
    String(db.prepare("SELECT hex(hash) AS hash FROM records WHERE lsn = ?").get(lsn)?.hash),
  );
}

async function firstAgent(wire: Wire): Promise<number | undefined> {
  const reply = await wire.ask("list_procs", {});
  const found = reply?.payload?.processes as { pid: number; kind: string }[] | undefined;
  return found?.find(({ kind }) => kind === "agent")?.pid;
}

/** One that was being read when its daemon died waits until the others were served: the person who is there says `crux cont`. */
async function letGoOn(wire: Wire, pid: number, env: Record<string, string>): Promise<void> {
  const reply = await wire.ask("list_procs", {});
  const found = reply?.payload?.processes as { pid: number; activity: string }[] | undefined;
  if (found?.some((row) => row.pid === pid && row.activity === "paused") !== true) return;
  await wire.ask("process.signal", { pid, signal: 5, env });
}

it(`${POINTS} kills at moments of the journal: nothing acknowledged is lost, nothing is done twice, all is finished`, {
  timeout: 180_000 + POINTS * 5_000,
}, async () => {
  const env = modelEnv(server);
  const acknowledged: string[] = [];
  let pid: number | undefined;
  let last: Seen | undefined;
  let isDone = false;
  for (let life = 0; !isDone; life++) {
    expect(life, "lives that it takes").toBeLessThan(POINTS * 10);
    const kills = momentsMet(world).length;
    const daemon = new DoomedDaemon(world, kills >= POINTS ? 0 : 1 + ((life * STRIDE) % MOMENTS), env);
    const wire = await daemon.connect();
    if (wire !== undefined) {
      // started, and its client never heard of it
      pid ??= await firstAgent(wire);
      if (pid === undefined) {
        const request = { intent: "count", cwd: world.work, env: { ...world.env, ...env }, detach: true };
        const limits = { permission_mode: "bypass", max_steps: STEPS * 3 };
        const reply = await wire.ask("spawn", { ...request, ...limits });
        pid = reply?.payload?.pid as number | undefined;
      } else {
        await letGoOn(wire, pid, { ...world.env, ...env });
        const words = `note-${life}.`;
        const reply = await wire.ask("mail.send", { pid, text: words });
        if (reply?.ok === true) acknowledged.push(words);
        const ended = await wire.ask("process.wait", { pid });
        isDone = ended !== undefined && (ended.ok === true || ended.error?.code === "NOT_FOUND");
      }
      if (isDone) await daemon.kill();
      if (pid !== undefined || daemon.isOver) await daemon.over;
      else await daemon.kill();
      await wire.close();
    }
    expect(daemon.end, world.log().slice(-2_000)).toBe("SIGKILL");
    if (!existsSync(join(world.dir, "state/crux/journal/journal.db"))) continue;
    // what any reader had seen is still there, bit for bit
    if (last !== undefined) expect(hashAt(last.lsn)).toBe(last.hash);
    last = newest() ?? last;
  }

  const moments = momentsMet(world);
  expect(moments.length).toBeGreaterThanOrEqual(POINTS);
  const kinds = new Map<string, number>();
  for (const moment of moments) kinds.set(moment, (kinds.get(moment) ?? 0) + 1);
  console.log([...kinds].map(([what, count]) => `${what} ${count}`).join(", "));

  const lines = readFileSync(join(world.work, "ledger"), "utf8").trim().split("\n").map(Number);
  const wanted = Array.from({ length: STEPS }, (_, i) => i + 1);
  expect(lines).toEqual(wanted.filter((step) => step % 4 !== 0));
  for (const step of wanted.filter((n) => n % 4 === 0)) expect(world.file(`out-${step}`)).toBe(`${step}\n`);

  const said = shown
    .flatMap(({ content }) => content)
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("\n");
  for (const words of acknowledged) expect([words, said.split(words).length - 1]).toEqual([words, 1]);

  const exits = journal((db) =>
    db.prepare("SELECT body FROM records WHERE pid = ? AND kind = 'process.exited'").all(pid ?? 0),
  );
  expect(exits.map(({ body }) => JSON.parse(String(body)))).toMatchObject([{ code: 0, result: "All done." }]);
  const check = await world.crux(["fsck", "--full", "--json"]);
  expect([check.code, check.stdout]).toEqual([0, expect.stringContaining('"findings"')]);
  expect((await world.crux(["audit", "verify"])).code).toBe(0);
});

it(`${LIMITED_LIVES} kills beside agents under a limit: no request left before its intent was on the disk`, {
  timeout: 180_000 + LIMITED_LIVES * 5_000,
}, async () => {
  /** By the intent of the agent: outside of Crux. */
  const requests = new Map<string, number>();
  const model = await startModelServer({
    script: ({ messages }) => {
      const name = /spend-\d+/.exec(JSON.stringify(messages))?.[0] ?? "";
      requests.set(name, (requests.get(name) ?? 0) + 1);
      return toolUse({ name: "bash", input: { command: "true" } });
    },
  });
  onTestFinished(() => model.close());
  const own = new World();
  onTestFinished(() => own.close());
  const env = modelEnv(model);
  for (let life = 0; life < LIMITED_LIVES; life++) {
    const daemon = new DoomedDaemon(own, AFTER_BOOT + ((life * STRIDE) % MOMENTS), env);
    const wire = await daemon.connect();
    const name = `spend-${life}`;
    const request = { intent: name, cwd: own.work, env: { ...own.env, ...env }, detach: true };
    await wire?.ask("spawn", { ...request, permission_mode: "bypass", max_steps: 99, budget: 1e9 });
    await daemon.over;
    await wire?.close();
    // those of earlier lives go on as well: this one has had one life, so nothing makes up for a record that is lost
    expect([name, intentsOf(own, name) >= (requests.get(name) ?? 0)]).toEqual([name, true]);
  }
  expect([...requests.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(LIMITED_LIVES / 4);
  expect((await own.crux(["fsck", "--full"])).code).toBe(0);
  // a daemon that ends as it should
  expect((await own.crux(["ps"])).code).toBe(0);
});

/** No run of a team has so many. */
const TEAM_MOST = 2_000;

function teamMoments(): readonly number[] {
  const range = /^(\d+)-(\d*)$/.exec(TEAM_MOMENTS === "all" ? "1-" : TEAM_MOMENTS);
  if (range === null) return TEAM_MOMENTS.split(",").map(Number);
  const [first, last] = [Number(range[1]), range[2] === "" ? TEAM_MOST : Number(range[2])];
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

it.skipIf(unconfined !== undefined)(
  `a team is killed at moments ${TEAM_MOMENTS} of its run: nothing is lost, doubled, gained or left behind`,
  { timeout: 180_000 + teamMoments().length * 30_000 },
  async () => {
    const lives = await TeamLives.open();
    onTestFinished(() => lives.close());
    for (const moment of teamMoments()) {
      if (!(await lives.live(moment))) break;
      // where to continue, should this run of them be cut off: CRUX_TEAM_MOMENTS=<moment>-
      if (teamMoments().length > 1) console.log(`moment ${moment}: ${lives.kills.slice(-2).join(", then ")}`);
    }
    await lives.finish();
    expect(lives.kills.length).toBeGreaterThan(0);
    console.log(`${lives.kills.length} kills of a team's daemon`);
  },
);

/** The calls to a model that the agent with this intent is on record with. */
function intentsOf({ dir }: World, name: string): number {
  const db = new DatabaseSync(join(dir, "state/crux/journal/journal.db"), { readOnly: true });
  try {
    const sql = `SELECT count(*) AS calls FROM records JOIN processes USING (proc)
      WHERE processes.intent = ? AND records.kind = 'call.intent' AND json_extract(body, '$.device') LIKE '/dev/llm/%'`;
    return Number(db.prepare(sql).get(name)?.calls);
  } finally {
    db.close();
  }
}
