import { createHash } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import type { Ended } from "../../abi/child.ts";
import { DriverError } from "../../abi/errors.ts";
import { asFd, asPid } from "../../abi/ids.ts";
import type { Memory } from "../../abi/surroundings.ts";
import type { SpawnOpts, Sys } from "../../abi/sys.ts";
import { Tidier } from "./tidier.ts";
import { isDue } from "./tidy-file.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 28, 12);
const FILE = "/m/shop/.tidy.md";
const line = (name: string) => ({ path: `/m/shop/${name}.md`, name, description: name, day: "2026-11-01" });
const memory: Memory = {
  ...{ local: "/m/shop", user: "/m/user", isTidied: true },
  indexes: [{ scope: "local", path: "/m/shop/MEMORY.md", text: "x" }],
  notes: [line("tests"), line("release")],
};
const prefix = { environment: "here", reminder: "", tools: [] };

let files: Map<string, string>;
let now: number;
let isFree: boolean;
let end: Ended | null;
let forks: SpawnOpts[];
let logs: string[];
let rival: (() => void) | null;
beforeEach(() => {
  files = new Map();
  now = NOW;
  isFree = true;
  end = null;
  forks = [];
  logs = [];
  rival = null;
});

const digest = (text: string) => createHash("sha256").update(text).digest("hex");
const fault = (code: "NOT_FOUND" | "CONFLICT") => new DriverError({ op: "Write", code, message: "x" });

/** Reads and writes whole files, as /dev/fs does. */
function fsSys(): Sys {
  const open = new Map<number, { path: string; answer: string }>();
  return {
    ending: new AbortController().signal,
    now: () => now,
    mayDoAside: () => isFree,
    log: (_level: string, text: string) => logs.push(text),
    ended: async () => end,
    spawn: async (_intent: string, _agent: unknown, opts: SpawnOpts) => {
      forks.push(opts);
      return asPid(9);
    },
    open: async (path: string) => {
      open.set(open.size, { path: path.replace("/dev/fs", ""), answer: "" });
      return asFd(open.size - 1);
    },
    write: async (fd: number, bytes: Uint8Array) => {
      const file = open.get(fd)!;
      const { op, content, expect: wanted } = JSON.parse(Buffer.from(bytes).toString());
      const held = files.get(file.path);
      if (op === "read") {
        if (held === undefined) throw fault("NOT_FOUND");
        file.answer = held;
        return;
      }
      rival?.();
      const is = files.get(file.path);
      if ((is === undefined ? null : digest(is)) !== wanted) throw fault("CONFLICT");
      files.set(file.path, content);
    },
    read: async (fd: number) => Buffer.from(open.get(fd)!.answer),
    close: async () => {},
  } as unknown as Sys;
}

const look = (tidier: Tidier, of = memory) =>
  tidier.look({ sys: fsSys(), memory: of, cwd: "/shop", prefix: async () => ({ prefix, tokens: 1_000 }) });
const sessions = () => Number(/sessions: (\d+)/.exec(files.get(FILE) ?? "")?.[1] ?? -1);

test("isDue() needs a day, five sessions and nobody at it", () => {
  const state = { lastMs: NOW - 24 * HOUR, sessions: 5, busyMs: 0 };
  expect(isDue(state, NOW)).toBe(true);
  expect(isDue({ ...state, lastMs: NOW - 23 * HOUR }, NOW)).toBe(false);
  expect(isDue({ ...state, sessions: 4 }, NOW)).toBe(false);
  expect(isDue({ ...state, busyMs: NOW - HOUR + 1 }, NOW)).toBe(false);
  expect(isDue({ ...state, busyMs: NOW - HOUR }, NOW)).toBe(true);
});

test("look() counts each session once, and the fifth begins a fork that reads the project and the notes alone", async () => {
  for (let n = 1; n <= 4; n++) {
    const tidier = new Tidier();
    await look(tidier);
    await look(tidier);
    expect(sessions()).toBe(n);
    expect(tidier.isCounted).toBe(true);
  }
  expect(forks).toEqual([]);
  await look(new Tidier());
  expect(forks).toHaveLength(1);
  expect(forks[0]).toMatchObject({
    fork: {
      label: "tidy",
      prefix: { tidies: { dir: "/m/shop", files: ["MEMORY.md", "tests.md", "release.md"] } },
    },
    ...{ maxTurns: 20, contextBudget: 100_000, permissionMode: "dont_ask" },
    rights: { tools: ["glob", "grep", "ls", "view", "write"], roots: ["/shop", "/m/shop"] },
  });
});

test("look() counts no session twice over a restart, and looks again in an hour", async () => {
  const tidier = new Tidier(true);
  await look(tidier);
  expect(sessions()).toBe(-1);
  files.set(FILE, "tidied:\nsessions: 7\nbegun:\n");
  await look(tidier);
  expect(forks).toEqual([]);
  now += HOUR;
  await look(tidier);
  expect(forks).toHaveLength(1);
});

test("look() begins none while one is at work, and says what it did", async () => {
  files.set(FILE, "tidied:\nsessions: 7\nbegun:\n");
  const tidier = new Tidier();
  await look(tidier);
  now += HOUR;
  await look(tidier);
  expect(forks).toHaveLength(1);
  const exit = { code: 0, reason: "completed", kind: "done" } as const;
  end = { agentId: "agent-0", exit, result: "the notes were tidied", tokensUsed: 1, elapsedMs: 1 };
  files.set(FILE, `tidied: ${new Date(now).toISOString()}\nsessions: 0\nbegun:\n`);
  now += HOUR;
  await look(tidier);
  expect([forks.length, logs]).toEqual([1, ["memory: the notes were tidied"]]);
});

test("look() does nothing under a limit, with few notes, without an index, or where it is off", async () => {
  files.set(FILE, "tidied:\nsessions: 7\nbegun:\n");
  isFree = false;
  await look(new Tidier());
  isFree = true;
  const { isTidied: _, ...off } = memory;
  for (const less of [off, { ...memory, notes: [line("tests")] }, { ...memory, indexes: [] }])
    await look(new Tidier(), less);
  expect([forks, sessions()]).toEqual([[], 7]);
});

test("of two sessions that are counted at once none is lost", async () => {
  files.set(FILE, "tidied:\nsessions: 1\nbegun:\n");
  rival = () => {
    rival = null;
    files.set(FILE, "tidied:\nsessions: 2\nbegun:\n");
  };
  await look(new Tidier());
  expect(sessions()).toBe(3);
});
