/**
 * Many clients that start, signal and wait for processes at random, for a long time; then nothing of it may be left.
 * CI runs a few thousand cycles; `npm run soak` runs 100,000 (CRUX_SOAK_CYCLES), and 5,000 turns of one session
 * (CRUX_SOAK_TURNS).
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { beforeTries } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";
import { stall, text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const CLIENTS = 32;
const CYCLES = Number(process.env.CRUX_SOAK_CYCLES ?? 3_000);
const SEED = Number(process.env.CRUX_SOAK_SEED ?? 20_261_121);
const TURNS = Number(process.env.CRUX_SOAK_TURNS ?? 60);
/** With fewer turns the heap of the daemon is too young to tell. */
const TELLING_TURNS = 2_000;
/** Of what a model says beside a call, which only a summary takes out of view: the window is full again after some eight turns. */
const SAID = "and so on, ".repeat(400);
const TIMEOUT_MS = Math.max(400_000, CYCLES * 120);

/** mulberry32: the same cycles for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const KINDS = ["quick", "shell", "sleeper", "stubborn", "stalled"] as const;
type Kind = (typeof KINDS)[number];

const COMMANDS: Readonly<Record<Kind, string | undefined>> = {
  quick: undefined,
  stalled: undefined,
  shell: "true",
  sleeper: "sleep 300",
  stubborn: "trap '' TERM INT HUP; (setsid sleep 300 &) ; sleep 300",
};

interface Census {
  readonly fds: number;
  readonly timers: number;
  readonly osChildren: number;
  readonly rssBytes: number;
}

function rssOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

describe("soak", () => {
  let world: World;
  let server: ModelServer;

  beforeTries(
    async () => {
      world = new World();
      server = await startModelServer({
        validate: false,
        keepRequests: 4,
        script: (request) => {
          const kind = KINDS.find((name) => request.lastUserText.includes(name)) ?? "quick";
          if (kind === "stalled") return stall();
          const command = COMMANDS[kind];
          return command === undefined || request.assistantTurns > 0
            ? text("Done.")
            : toolUse({ name: "bash", input: { command } });
        },
      });
      await world.crux(["daemon", "start"]);
    },
    async () => {
      await world.close();
      await server.close();
    },
  );

  const ask = async (wire: Wire, method: string, payload: unknown) => {
    const reply = await wire.ask(method, payload);
    if (reply?.ok !== true) throw new Error(`${method}: ${JSON.stringify(reply)}`);
    return reply.payload ?? {};
  };

  const census = async (): Promise<Census> => {
    const wire = await Wire.open(world.socket);
    const { timers, os_children } = await ask(wire, "kernel.metrics", {});
    wire.socket.destroy();
    const pid = world.daemonPid;
    const fds = readdirSync(`/proc/${pid}/fd`).length;
    return { fds, timers: Number(timers), osChildren: Number(os_children), rssBytes: rssOf(pid) };
  };

  /** One process from start to end: left alone, or signalled once or more; it always ends, and is always waited for. */
  const cycle = async (wire: Wire, random: (below: number) => number): Promise<void> => {
    const kind = KINDS[random(KINDS.length)] ?? "quick";
    const env = { ...world.env, OPENAI_API_KEY: "soak", OPENAI_BASE_URL: server.openaiBaseUrl };
    const request = { intent: kind, cwd: world.work, env, detach: true, permission_mode: "bypass" };
    const { pid } = await ask(
      wire,
      "spawn",
      random(4) === 0 ? { ...request, group: `g${random(8)}` } : request,
    );
    for (let n = random(4); n > 0; n--) {
      const signal = 1 + random(5);
      await ask(wire, random(2) === 0 ? "kill" : "process.signal", { pid, signal });
    }
    if (random(8) === 0) await ask(wire, "list_procs", {});
    const isEndless = kind === "sleeper" || kind === "stubborn" || kind === "stalled";
    await ask(wire, "kill", { pid, signal: 5 });
    if (isEndless || random(2) === 0) await ask(wire, "kill", { pid, signal: random(3) === 0 ? 1 : 2 });
    await ask(wire, "process.wait", { pid });
  };

  const run = async (cycles: number, seed: number): Promise<void> => {
    const random = randomOf(seed);
    let left = cycles;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        const wire = await Wire.open(world.socket);
        while (left-- > 0) await cycle(wire, random);
        wire.socket.destroy();
      }),
    );
  };

  test(`${CLIENTS} clients, ${CYCLES} processes, random signals: nothing is left`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    await run(CLIENTS * 4, SEED);
    const before = await settled(census, ({ osChildren }) => osChildren === 0);
    const peaks: number[] = [];
    // flat: a quarter needs no more than the one two before it did, but for what the allocator rounds up. A heap that is
    // still young may take up to four quarters more to get there; one that leaks never does.
    const isFlat = () => (peaks.at(-1) ?? 0) < (peaks.at(-3) ?? 0) * 1.25 + 16e6;
    while (peaks.length < 4 || (peaks.length < 8 && !isFlat())) {
      await run(Math.ceil(CYCLES / 4), SEED + 1 + peaks.length);
      peaks.push((await census()).rssBytes);
    }
    const isBack = (now: Census) =>
      now.osChildren === 0 && now.fds <= before.fds && now.timers <= before.timers;
    const after = await settled(census, isBack);
    expect({ ...after, rssBytes: 0 }).toEqual({
      fds: Math.min(after.fds, before.fds),
      timers: Math.min(after.timers, before.timers),
      osChildren: 0,
      rssBytes: 0,
    });
    const wire = await Wire.open(world.socket);
    expect((await ask(wire, "list_procs", {})).processes).toEqual([]);
    expect((await ask(wire, "group.list", {})).groups).toEqual([]);
    wire.socket.destroy();
    // only the daemon: nothing it started is left
    expect(await world.left(1)).toEqual([world.daemonPid]);
    expect(isFlat(), peaks.join(" ")).toBe(true);
    console.log(
      `rss after each quarter: ${peaks.map((bytes) => `${Math.round(bytes / 1e6)} MB`).join(", ")}; fds ${before.fds} → ${after.fds}; timers ${before.timers} → ${after.timers}`,
    );
  });

  test(`${TURNS} turns of one session, summarised again and again: memory stays flat`, {
    timeout: Math.max(180_000, TURNS * 200),
  }, async () => {
    const peaks: number[] = [];
    let [turns, summaries, isOver] = [0, 0, false];
    const model = await startModelServer({
      validate: false,
      keepRequests: 4,
      script: ({ lastUserText }) => {
        if (lastUserText.includes("Write the summary")) {
          summaries++;
          return text("## Goal: read on\n## Now: reading");
        }
        if (++turns % Math.ceil(TURNS / 4) === 0) peaks.push(rssOf(world.daemonPid));
        isOver = turns >= TURNS;
        const view = { name: "view", input: { file_path: `f${turns % 50}.txt` } };
        return isOver ? text("Done.") : toolUse(view, { text: SAID });
      },
    });
    for (let n = 0; n < 50; n++)
      world.write(
        `f${n}.txt`,
        Array.from({ length: 100 }, (_, i) => `${n}: line ${i}, with words`).join("\n"),
      );
    const wire = await Wire.open(world.socket);
    try {
      const env = {
        ...world.env,
        ...{ OPENAI_API_KEY: "soak", OPENAI_BASE_URL: model.openaiBaseUrl, CRUX_MAX_CONTEXT_TOKENS: "32000" },
      };
      const session = { session: true, detach: true, cwd: world.work, env, permission_mode: "bypass" };
      const { pid } = await ask(wire, "spawn", { intent: "read", max_steps: TURNS + 10, ...session });
      const isWaiting = async () => {
        const { processes } = await ask(wire, "list_procs", {});
        return isOver && (processes as { pid: number; activity: string }[])[0]?.activity === "waiting";
      };
      expect(await settled(isWaiting, (is) => is, Math.max(160_000, TURNS * 180))).toBe(true);
      expect(turns).toBe(TURNS);
      // summaries have not stopped, as they would have after three within ten turns
      expect(await ask(wire, "context.stat", { pid })).toMatchObject({ breaker: null });
      expect(summaries).toBeGreaterThanOrEqual(Math.floor(TURNS / 15));
      await ask(wire, "kill", { pid, signal: 1 });
      await ask(wire, "process.wait", { pid });
      console.log(
        `rss at each quarter of ${TURNS} turns: ${peaks.map((b) => `${Math.round(b / 1e6)} MB`).join(", ")}; ${summaries} summaries`,
      );
      if (TURNS >= TELLING_TURNS)
        expect((peaks[3] ?? 0) < (peaks[1] ?? 0) * 1.25 + 16e6, peaks.join(" ")).toBe(true);
    } finally {
      wire.socket.destroy();
      await model.close();
    }
  });
});
