/**
 * What the interactive terminal costs while replies stream:
 *   node bench/terminal.ts [pieces|agents|long]        (npm run build first; of its parts, all or one)
 * Bytes, and those of them that steer the terminal, for each piece of a reply, inline and on the whole screen; and with agents that
 * stream below the session the time from a key to its echo, the share of a core and the memory of the client. Nothing is ever drawn
 * anew as a whole. Then a long session (CRUX_BENCH_MESSAGES, 20,000), inline and on the whole screen: opened, scrolled over all of
 * it by a page key that is held down, its memory. Sizes: CRUX_BENCH_AGENTS (100), CRUX_BENCH_SECONDS (20; 3600 is a soak).
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { modelEnv } from "../test/harness/model.ts";
import { TerminalWindow } from "../test/harness/terminal.ts";
import { World } from "../test/harness/world.ts";
import { blocks, type Reply, text, toolUse } from "../test/model-server/reply.ts";
import type { Script } from "../test/model-server/script.ts";
import { startModelServer } from "../test/model-server/server.ts";
import { ANEW, PER_SECOND, STEERING, TICK_MS } from "./parts/escapes.ts";
import { MemoryTrend } from "./parts/memory-trend.ts";
import { lengthenedSession, sessionServer } from "./parts/opening.ts";
import { cpuMs, statusBytes } from "./parts/os-process.ts";
import { Place } from "./parts/place.ts";
import { percentile, printTable, type Row } from "./table.ts";

const AGENTS = Number(process.env.CRUX_BENCH_AGENTS ?? 100);
const SECONDS = Number(process.env.CRUX_BENCH_SECONDS ?? 20);
const MESSAGES = Number(process.env.CRUX_BENCH_MESSAGES ?? 20_000);
/** A key that is held down comes so often. */
const REPEAT_MS = 33;
/** More than all pages of the screen that the messages have. */
const MOST_KEYS = 1_000;
/** All of them stream at once. */
const ALL_AT_ONCE = {
  agents: { limits: { children: 128, tree: 256, spawnsPerMinute: 1_000, queue: 512 } },
  models: { openai: { limits: { maxConcurrent: 1_000 } } },
};
const TASK = "stream what comes to mind";
/** Pieces for so long, evenly. */
function stream(seconds: number, chars = 8): Reply {
  const pieces = seconds * PER_SECOND;
  let reply = text("word by word it comes, ".repeat(pieces).slice(0, pieces * chars)).fragment(chars);
  const atOnce = (PER_SECOND * TICK_MS) / 1000;
  for (let piece = 0; piece < pieces; piece += atOnce)
    reply = reply.delay(TICK_MS, { afterEvents: piece + 2 });
  return reply;
}

async function measured<R>(
  script: Script,
  screen: string,
  act: (window: TerminalWindow, world: World) => Promise<R>,
): Promise<R> {
  const server = await startModelServer({ script });
  const world = new World();
  Object.assign(world.env, modelEnv(server));
  world.settings({ ui: { screen }, ...ALL_AT_ONCE });
  const window = new TerminalWindow(world, [], { columns: 100, rows: 40 });
  try {
    await window.shows("% context");
    return await act(window, world);
  } finally {
    await window[Symbol.asyncDispose]();
    await world.close().catch(() => {});
    await server.close();
  }
}

const SHORT_S = 6;
const perPiece = (screen: string): Promise<Row> =>
  measured(
    () => stream(SHORT_S),
    screen,
    async (window) => {
      window.type("go\r");
      await window.shows("word by");
      await window.until(({ rows }) => !rows.join("\n").includes("esc to interrupt"), "the whole reply");
      const { bytes } = window;
      const pieces = SHORT_S * PER_SECOND;
      const steering = (bytes.match(STEERING) ?? []).join("").length;
      const anew = (bytes.match(ANEW) ?? []).length;
      const each = (count: number) => (count / pieces).toFixed(1);
      return [
        `${screen}: bytes for a piece`,
        each(bytes.length),
        `${each(steering)} steer`,
        `${anew} drawn anew`,
      ];
    },
  );

/** What an agent says before each of its calls, for so long: in an hour it says no more than its window holds. */
const SAID_S = 60;
const SAID = stream(SAID_S, 2).and(toolUse({ name: "view", input: { file_path: "notes.txt" } }));
const typing = (): Promise<readonly Row[]> =>
  measured(
    ({ rawBody, assistantTurns }) => {
      if (rawBody.includes(TASK) && !rawBody.includes("begin all")) return SAID;
      if (assistantTurns > 0) return text("They work.");
      const input = (n: number) => ({
        description: `agent ${n}`,
        prompt: `${TASK} ${n}`,
        run_in_background: true,
      });
      return blocks(...Array.from({ length: AGENTS }, (_, n) => toolUse({ name: "agent", input: input(n) })));
    },
    "inline",
    async (window, world) => {
      world.write("notes.txt", "it goes on\n");
      window.type("begin all\r");
      await window.shows("They work.");
      await sleep(2_000);
      const { pid } = window.pty;
      using memory = new MemoryTrend(pid);
      const [began, used] = [performance.now(), cpuMs(pid)];
      const echoes: number[] = [];
      let anew = 0;
      while (performance.now() - began < SECONDS * 1000) {
        anew += (window.bytes.match(ANEW) ?? []).length;
        window.bytes = "";
        // no other line has one of these letters
        const key = String.fromCharCode(0x3b1 + (echoes.length % 24));
        const typed = performance.now();
        window.type(key);
        await window.until(({ bytes }) => bytes.includes(key), "the echo");
        echoes.push(performance.now() - typed);
        if (echoes.length % 60 === 0) window.type("\x15");
        await sleep(100);
      }
      const share = ((cpuMs(pid) - used) / (performance.now() - began)) * 100;
      const name = `${AGENTS} agents`;
      return [
        [
          `${name}: key to echo, p95 of ${echoes.length}`,
          `${percentile(echoes, 95).toFixed(1)} ms`,
          `median ${percentile(echoes, 50).toFixed(1)} ms`,
          `${anew} drawn anew`,
          "50 ms",
        ],
        [`${name}: share of a core`, `${share.toFixed(1)} %`, "", "", "25 %"],
        ...memory.rows(name),
      ];
    },
  );

interface Opened {
  readonly ms: number;
  /** From each key to what it shows. */
  readonly keys: readonly number[];
  /** Keys that showed nothing before the next one came. */
  readonly late: number;
  readonly bytes: number;
}

/** From the start of `crux` until the end of the session is on the screen; then PgUp, held down until its begin is there. */
async function opened(place: Place, pid: number, screen: string): Promise<Opened> {
  const began = performance.now();
  const window = new TerminalWindow(place, ["-r", `${pid}`], { columns: 100, rows: 40 });
  try {
    await window.shows("That is all there is.");
    const ms = performance.now() - began;
    await sleep(1_000);
    if (screen === "inline") window.type("\x0f");
    const keys: number[] = [];
    // a session of a few messages fits the screen
    for (let idle = 0; idle < 30 && keys.length < MOST_KEYS; ) {
      const at = window.bytes.length;
      const pressed = performance.now();
      window.type("\x1b[5~");
      await Promise.race([window.until(({ bytes }) => bytes.length > at, "the page"), sleep(REPEAT_MS * 2)]);
      const took = performance.now() - pressed;
      idle = window.bytes.length > at ? 0 : idle + 1;
      keys.push(took);
      await sleep(Math.max(0, REPEAT_MS - took));
    }
    const scrolled = keys.slice(0, -30);
    const late = scrolled.filter((took) => took > REPEAT_MS).length;
    return { ms, keys: scrolled, late, bytes: statusBytes(window.pty.pid, "VmRSS") };
  } finally {
    await window[Symbol.asyncDispose]();
  }
}

/** A session of so many messages, beside one of a few. */
async function longOne(screen: string): Promise<readonly Row[]> {
  await using server = await sessionServer();
  const place = new Place();
  try {
    mkdirSync(join(place.dir, "config/crux"), { recursive: true });
    writeFileSync(join(place.dir, "config/crux/settings.json"), JSON.stringify({ ui: { screen } }));
    Object.assign(place.env, modelEnv(server));
    const short = await lengthenedSession(place, server, { count: 0 });
    const long = await lengthenedSession(place, server, { count: MESSAGES * 10, messages: MESSAGES });
    const { wire } = await place.start();
    const [empty, full] = [await opened(place, short, screen), await opened(place, long, screen)];
    await wire.close();
    const more = (full.bytes - empty.bytes) / 2 ** 20;
    const what = `${screen}, ${MESSAGES.toLocaleString("en")} messages`;
    return [
      [`${what}: opened`, `${full.ms.toFixed(0)} ms`, `${empty.ms.toFixed(0)} ms with a few`, "", "1,000 ms"],
      [`${what}: memory, scrolled over all`, `${more.toFixed(1)} MiB`, "over a few", "", "60 MiB"],
      [
        `${what}: PgUp held, p95 of ${full.keys.length}`,
        `${percentile(full.keys, 95).toFixed(1)} ms`,
        `median ${percentile(full.keys, 50).toFixed(1)} ms; ${full.late} late`,
        "",
        "16 ms",
      ],
    ];
  } finally {
    await place.close();
  }
}

const PARTS: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  pieces: async () => [await perPiece("inline"), await perPiece("full")],
  agents: typing,
  long: async () => [...(await longOne("inline")), ...(await longOne("full"))],
};
const rows: Row[] = [];
for (const name of process.argv[2]?.split(",") ?? Object.keys(PARTS))
  rows.push(...((await PARTS[name]?.()) ?? []));
printTable(["what", "figure", "of it", "whole screens", "aim"], rows);
