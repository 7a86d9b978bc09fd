/**
 * An agent that its parent waits for goes to the background, by the user's wish or by the settings, perhaps as it ends; and its
 * daemon is killed with SIGKILL at one moment of the journal after another from then on. One daemon for each: the next one
 * brings that run to its end before it begins its own.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SIGNALS } from "../src/abi/process.ts";
import { DoomedDaemon, momentsMet } from "./harness/doomed-daemon.ts";
import { modelEnv } from "./harness/model.ts";
import type { Wire } from "./harness/wire.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const MOMENTS = Number(process.env.CRUX_HAND_OVERS ?? 20);
/** After which a call hands its agent over by itself, in every third run. */
const WAIT_MS = 50;

let world: World;
let server: ModelServer;
const gates = new Map<
  number,
  { readonly begun: PromiseWithResolvers<void>; readonly end: PromiseWithResolvers<void> }
>();
/** The last request of the lead, by run. */
const last = new Map<number, ModelRequest>();

function gateOf(run: number) {
  const gate = gates.get(run) ?? { begun: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() };
  gates.set(run, gate);
  return gate;
}

function answer(request: ModelRequest) {
  const said =
    request.messages.flatMap((message) => (message.role === "user" ? userTexts(message) : []))[0] ?? "";
  const [, who, number] = /^(lead|dig) (\d+)/.exec(said) ?? [];
  const run = Number(number);
  const gate = gateOf(run);
  if (who === "dig") {
    gate.begun.resolve();
    return text(`Dug ${run}.`).until(gate.end.promise);
  }
  last.set(run, request);
  if (request.assistantTurns > 0) {
    gate.end.resolve();
    return text("Heard.");
  }
  return toolUse({ name: "agent", input: { description: "digs", prompt: `dig ${run}` } });
}

beforeEach(async () => {
  world = new World();
  gates.clear();
  last.clear();
  server = await startModelServer({ script: answer, keepRequests: 4 });
});
afterEach(async () => {
  for (const { end } of gates.values()) end.resolve();
  await server.close();
  await world.close();
});

function records(kind: string): { readonly pid: number; readonly body: Record<string, unknown> }[] {
  const db = new DatabaseSync(join(world.dir, "state/crux/journal/journal.db"), { readOnly: true });
  try {
    const rows = db.prepare("SELECT pid, body FROM records WHERE kind = ? ORDER BY lsn").all(kind);
    return rows.map(({ pid, body }) => ({ pid: Number(pid), body: JSON.parse(String(body)) as never }));
  } finally {
    db.close();
  }
}

/** The pids that were started for that run. */
function started(run: number): Record<string, number[]> {
  const of = (who: string) =>
    records("process.spawned").flatMap(({ pid, body }) => (body.intent === `${who} ${run}` ? [pid] : []));
  return { lead: of("lead"), dig: of("dig") };
}

async function begin(wire: Wire, daemon: DoomedDaemon, run: number): Promise<void> {
  const env = { ...world.env, ...modelEnv(server) };
  const spawned = await wire.ask("spawn", { intent: `lead ${run}`, cwd: world.work, env, detach: true });
  const pid = spawned?.payload?.pid as number;
  await gateOf(run).begun.promise;
  daemon.arm();
  if (run % 2 === 0) gateOf(run).end.resolve();
  if (run % 3 !== 0) await wire.ask("process.background", { pid });
  await wire.ask("process.wait", { pid });
  await daemon.kill();
  gateOf(run).end.resolve();
}

/** As if nobody had been killed: each was started once and has ended once, and the lead has been told once. */
async function finish(wire: Wire, run: number): Promise<void> {
  const at = `run ${run}, killed ${momentsMet(world).at(-1)}`;
  const { lead = [], dig = [] } = started(run);
  const env = { ...world.env, ...modelEnv(server) };
  await wire.ask("process.signal", { pid: lead[0], signal: SIGNALS.SIGRESUME, env });
  await wire.ask("process.wait", { pid: lead[0] });
  expect([lead.length, dig.length], at).toEqual([1, 1]);
  const ends = records("process.exited").flatMap(({ pid, body }) =>
    pid === lead[0] || pid === dig[0] ? [`${body.reason}: ${body.result}`] : [],
  );
  expect(ends, at).toEqual([`completed: Dug ${run}.`, "completed: Heard."]);
  expect(last.get(run)!.rawBody.toString().split(`Dug ${run}.`), at).toHaveLength(2);
}

it(`${MOMENTS} moments of a kill -9: the agent ends once, and its parent is told once`, {
  timeout: 180_000 + MOMENTS * 10_000,
}, async () => {
  for (let run = 1; run <= MOMENTS + 1; run++) {
    world.settings({ agents: { autoBackgroundMs: run % 3 === 0 ? WAIT_MS : 0 } });
    const daemon = new DoomedDaemon(world, run > MOMENTS ? 0 : run, modelEnv(server), false);
    const wire = await daemon.connect();
    if (wire === undefined) throw new Error(`the daemon does not start: ${world.log().slice(-2_000)}`);
    if (run > 1) await finish(wire, run - 1);
    if (run <= MOMENTS) await begin(wire, daemon, run);
    await wire.close();
  }
  // that of many a run lay in the hand-over itself
  expect(momentsMet(world).length).toBeGreaterThan(MOMENTS / 2);
  expect(records("child.detached").length).toBeGreaterThan(MOMENTS / 4);
});
