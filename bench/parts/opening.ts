/**
 * What a long history and many processes cost a daemon that has just been started: a session of a million records opened, a
 * boot with thousands of paused agents, one of which then goes on. All of it is copied from what a daemon wrote.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readHistory } from "../../src/history/recover/history-reader.ts";
import type { JournalDraft, JournalRecord } from "../../src/kernel/ports/journal.ts";
import { openTools } from "../../src/store/offline/tools.ts";
import type { Wire } from "../../test/harness/wire.ts";
import { settled } from "../../test/harness/world.ts";
import { text, toolUse } from "../../test/model-server/reply.ts";
import { type ModelServer, startModelServer } from "../../test/model-server/server.ts";
import type { Row } from "../table.ts";
import { copyOf, historyOf, noteAll, withJournal } from "./copies.ts";
import { ask, Place } from "./place.ts";

/** Messages of the long session. A context takes some more. */
const MAX_MESSAGES = 60_000;
/** What follows the newest snapshot: one is made after each thousand records. */
const SINCE_SNAPSHOT = 700;
const FIRST_PAGE = 20;
const PAUSE = 4;
const MB = 1024 * 1024;

/** A session of `count` records, opened by a client of a daemon that has just been started; then all of its hashes. */
export async function longSession(count: number): Promise<readonly Row[]> {
  await using server = await sessionServer();
  const place = new Place();
  try {
    const pid = await lengthenedSession(place, server, { count });
    return [...(await opened(place, server, pid, count)), await verified(place)];
  } finally {
    await place.close();
  }
}

export function sessionServer(): Promise<ModelServer> {
  return startModelServer({
    script: ({ assistantTurns }) =>
      assistantTurns % 4 < 3 ? toolUse({ name: "ls", input: { path: "." } }) : text("That is all there is."),
    validate: false,
  });
}

/** Of so many records, or of fewer where it has `messages` before; it rests, and no daemon runs. */
export async function lengthenedSession(
  place: Place,
  server: ModelServer,
  { count, messages = Number.POSITIVE_INFINITY }: { readonly count: number; readonly messages?: number },
): Promise<number> {
  const pid = await madeSession(place, server);
  await withJournal(place.state, async (journal) => {
    const records = await historyOf(journal, pid);
    let last = records.length;
    let inContext = records.filter(isMessage).length;
    const more = lengthened(records, count, messages).map((draft) => {
      last++;
      if (isMessage(draft)) inContext++;
      return draft;
    });
    await noteAll(journal, more);
    const [{ proc, pid: own }] = records as [JournalRecord];
    // as its model has counted them with its last reply
    const reported = { tokens: 100_000, records: inContext };
    await journal.append([{ proc, pid: own, kind: "ctx.gauge", v: 1, body: { reported } }]);
    const history = await readHistory(journal, proc, last - SINCE_SNAPSHOT);
    await journal.saveSnapshot(proc, history.lastSeq, history.state);
  });
  return pid;
}

function isMessage({ kind, body }: JournalDraft): boolean {
  return kind === "ctx.record" && "role" in (body as object);
}

/** A person asked twice; it rests. */
async function madeSession(place: Place, server: ModelServer): Promise<number> {
  const { wire } = await place.start();
  const env = modelEnv(place, server);
  const spawned = { intent: "what is here", cwd: place.work, env, permission_mode: "bypass", session: true };
  const { pid } = await ask(wire, "spawn", spawned);
  await untilIdle(wire);
  const other = await place.connect();
  await ask(other, "session.say", { pid, text: "and now?" });
  await untilIdle(wire);
  await other.close();
  await wire.close();
  await place.stop();
  return pid as number;
}

async function untilIdle(wire: Wire): Promise<void> {
  for (;;) {
    const line = await wire.next();
    if (line === undefined) throw new Error("the session ended");
    if (line.payload?.event === "idle") return;
  }
}

/** The second of its runs again and again: messages, calls, places, lines and what replay needs, as they came. */
function* lengthened(
  records: readonly JournalRecord[],
  count: number,
  most: number,
): Generator<JournalDraft> {
  const second = records.findLastIndex(({ kind }) => kind === "mail.done");
  const run = records.slice(second + 1).filter(({ kind }) => REPEATED.has(kind));
  let messages = 0;
  for (let seq = records.length; seq < count && messages < most; seq++) {
    const record = run[seq % run.length] as JournalRecord;
    // spread over all of it
    const isLeftOut = isMessage(record) && messages >= (seq * MAX_MESSAGES) / count;
    if (isMessage(record) && !isLeftOut) messages++;
    yield isLeftOut ? { ...record, kind: "process.log", body: LINE } : record;
  }
}

const REPEATED: ReadonlySet<string> = new Set([
  ...["ctx.record", "call.intent", "call.result", "call.read", "process.checkpoint", "process.log"],
]);
const LINE = { timestampMs: 1, level: "info", message: "tool /bin/ls 12B → 300B 0.0s" };

async function opened(
  place: Place,
  server: ModelServer,
  pid: number,
  count: number,
): Promise<readonly Row[]> {
  const { wire, ms: start } = await place.start();
  const before = place.residentBytes;
  const began = performance.now();
  await ask(wire, "session.open", { pid, env: modelEnv(place, server) });
  const other = await place.connect();
  const { messages } = await ask(other, "session.history", { pid, limit: FIRST_PAGE });
  const ms = performance.now() - began;
  if ((messages as unknown[]).length !== FIRST_PAGE) throw new Error("the page is not full");
  const more = place.residentBytes - before;
  await other.close();
  await wire.close();
  await place.stop();
  const size = count.toLocaleString("en");
  return [
    [
      `a session of ${size} records, opened`,
      `${ms.toFixed(0)} ms`,
      `${start.toFixed(0)} ms start`,
      "",
      "1,000 ms",
    ],
    ["memory for it", `${(more / MB).toFixed(1)} MB`, `${(before / MB).toFixed(0)} MB before`, "", "50 MB"],
  ];
}

async function verified({ state }: Place): Promise<Row> {
  const clock = { mono: () => performance.now(), sleep: async () => {} };
  const tools = openTools(join(state, "journal"), { clock, maxBytes: () => 0 });
  const began = process.cpuUsage();
  const { records, broken } = await tools.verify({});
  const { user, system } = process.cpuUsage(began);
  if (broken !== null) throw new Error(`the chain is broken: ${JSON.stringify(broken)}`);
  const seconds = (user + system) / 1e6;
  return [
    `${records.toLocaleString("en")} records verified`,
    `${seconds.toFixed(1)} s of CPU`,
    "",
    "",
    "8 s",
  ];
}

/** Agents that were paused in the middle of their work, as many as `count`: a start with them, and one of them goes on. */
export async function crowdedBoot(count: number): Promise<readonly Row[]> {
  const held = { arrived: 0, release: Promise.withResolvers<void>() };
  let finished = 0;
  await using server = await startModelServer({
    script: ({ assistantTurns }) => {
      if (assistantTurns > 0) {
        finished++;
        return text("Done.");
      }
      held.arrived++;
      return toolUse({ name: "ls", input: { path: "." } }).until(held.release.promise);
    },
    validate: false,
  });
  const place = new Place();
  try {
    const empty = await startAlone(place);
    const pid = await madePaused(place, server, held);
    await withJournal(place.state, async (journal) => {
      const records = await historyOf(journal, pid);
      for (let first = 1; first < count; first += 1_000) {
        const pids = Array.from({ length: Math.min(1_000, count - first) }, (_, n) => pid + first + n);
        const copies = pids.map((own) => copyOf(records, own));
        await noteAll(journal, copies.flat());
        // each had its scratch folder from the daemon that made it
        for (const [{ proc }] of copies as [JournalDraft][]) mkdirSync(join(place.state, "scratch", proc));
      }
    });
    const { wire, ms } = await place.start();
    const bytes = place.residentBytes;
    const last = pid + count - 1;
    const began = performance.now();
    await ask(wire, "process.resume", { pid: last, env: modelEnv(place, server) });
    await settled(
      () => finished,
      (n) => n > 0,
      60_000,
    );
    const goesOn = performance.now() - began;
    await wire.close();
    await place.kill();
    const size = count.toLocaleString("en");
    return [
      [
        `boot with ${size} paused agents`,
        `${ms.toFixed(0)} ms`,
        `${empty.ms.toFixed(0)} ms with none`,
        `${(ms / empty.ms).toFixed(2)}x`,
        "3,000 ms",
      ],
      [
        "memory with them",
        `${(bytes / MB).toFixed(0)} MB`,
        `${(empty.bytes / MB).toFixed(0)} MB with none`,
        "",
        "",
      ],
      ["crux cont of the last, to its next request", `${goesOn.toFixed(0)} ms`, "", "", "at once"],
    ];
  } finally {
    await place.close();
  }
}

async function startAlone(place: Place): Promise<{ ms: number; bytes: number }> {
  await (await place.start()).wire.close();
  await place.stop();
  const { wire, ms } = await place.start();
  const bytes = place.residentBytes;
  await wire.close();
  await place.stop();
  return { ms, bytes };
}

async function madePaused(
  place: Place,
  server: ModelServer,
  held: { arrived: number; readonly release: PromiseWithResolvers<void> },
): Promise<number> {
  const { wire } = await place.start();
  const env = modelEnv(place, server);
  const spawned = { intent: "idle", cwd: place.work, env, detach: true, permission_mode: "bypass" };
  const { pid } = await ask(wire, "spawn", spawned);
  await settled(
    () => held.arrived,
    (n) => n > 0,
    30_000,
  );
  await ask(wire, "kill", { pid, signal: PAUSE });
  held.release.resolve();
  await wire.close();
  await place.stop();
  return pid as number;
}

export function modelEnv(place: Place, server: ModelServer): Record<string, string> {
  return { ...place.env, OPENAI_API_KEY: "bench", OPENAI_BASE_URL: server.openaiBaseUrl };
}
