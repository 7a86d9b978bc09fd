import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asPid } from "../abi/ids.ts";
import type { SkillShelf } from "../abi/skill.ts";
import { GuideDesk } from "./guides.ts";
import { MemoryDesk } from "./memory/memory-desk.ts";
import { memoryFolders } from "./memory/memory-places.ts";
import type { ProjectView } from "./trust/trust.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "crux-guides-")));
  mkdirSync(join(base, "work/src"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** For a trusted workspace without agents and skills of its own. */
function deskOf(isTrusted = true, asked: string[] = []): GuideDesk {
  const root = join(base, "work");
  const view = { root, isTrusted, approves: () => true } as unknown as ProjectView;
  const realPath = (path: string) => path;
  const no = () => false;
  return new GuideDesk({
    ...{ home: join(base, "home"), configDir: join(base, "config"), policyDir: join(base, "policy") },
    isSecret: no,
    trust: { viewOf: () => view },
    gitState: async (cwd) => {
      asked.push(cwd);
      return "";
    },
    agents: async () => [],
    skills: { lines: async () => [], linesBelow: async () => [], shelf: async () => ({}) as SkillShelf },
    memory: new MemoryDesk({
      folders: (at) => memoryFolders(join(base, "config"), at, realPath),
      ...{ isOff: no, isTaken: no, isTidied: no, isLabelled: no },
    }),
  });
}

function around(desk: GuideDesk) {
  const cwd = join(base, "work/src");
  return desk.around({ pid: asPid(1), cwd, env: {}, agents: {}, hasAgent: true, denied: () => undefined });
}

/** How often the answer of the system to a question about files was waited for. */
async function waitsOf<T>(act: () => Promise<T>): Promise<{ found: T; waits: number }> {
  const own = new AsyncLocalStorage<true>();
  let waits = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === "FSREQPROMISE" && own.getStore() === true) waits++;
    },
  }).enable();
  try {
    return { found: await own.run(true, act), waits };
  } finally {
    hook.disable();
  }
}

test("around() waits for no file where none guides an agent", async () => {
  const { found, waits } = await waitsOf(() => around(deskOf()));
  expect([found.instructions, found.memory?.indexes, found.notices]).toEqual([[], [], []]);
  expect(waits).toBe(0);
});

test("around() reads the files that are there", async () => {
  writeFileSync(join(base, "work/AGENTS.md"), "Use tabs.");
  mkdirSync(join(base, "config/memory/user"), { recursive: true });
  writeFileSync(join(base, "config/memory/user/MEMORY.md"), "Likes tabs.");
  const { found, waits } = await waitsOf(() => around(deskOf()));
  expect(found.instructions.map(({ text }) => text)).toEqual(["Use tabs."]);
  expect(found.memory?.indexes.map(({ text }) => text)).toEqual(["Likes tabs."]);
  expect(waits).toBeGreaterThan(0);
});

test("around() has the instruction files from broad to specific; before trust neither those of the project nor git", async () => {
  const files = ["policy/AGENTS.md", "config/AGENTS.md", "home/.claude/CLAUDE.md"];
  const own = [
    "AGENTS.md",
    "CLAUDE.md",
    ".crux/AGENTS.md",
    ".claude/CLAUDE.md",
    "AGENTS.local.md",
    "CLAUDE.local.md",
  ];
  const ofProject = ["work", "work/src"].flatMap((dir) => own.map((name) => `${dir}/${name}`));
  for (const file of [...files, ...ofProject]) {
    mkdirSync(dirname(join(base, file)), { recursive: true });
    writeFileSync(join(base, file), file);
  }
  const asked: string[] = [];
  const textsOf = async (isTrusted: boolean) =>
    (await around(deskOf(isTrusted, asked))).instructions.map(({ text }) => text);
  expect(await textsOf(false)).toEqual(files);
  expect(asked).toEqual([]);
  expect(await textsOf(true)).toEqual([...files, ...ofProject]);
  expect(asked).toHaveLength(1);
});
