/** Notes of memory that are tidied in the booted system, by a fork that can write nothing itself. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { attended, type Wire } from "./harness/wire.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";
import type { Answer } from "./model-server/script.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const note = (type: string, body: string) =>
  `---\ndescription: how tests are written\ntype: ${type}\n---\n${body}\n`;
const NOTES = {
  "MEMORY.md": "- [Tests](tests.md) — no mocks\n- [Mocks](mocks.md) — why\n",
  "tests.md": note("feedback", "No mocks."),
  "mocks.md": note("feedback", "Mocks hid a broken migration."),
};
const BOTH = note("feedback", "No mocks: they hid a broken migration.");
const TIDIED = `<note file="tests.md">\n${BOTH}</note>\n<gone file="mocks.md"/>`;
const DUE = "---\ntidied:\nsessions: 7\nbegun:\n---\n";

let world: World;
let server: ModelServer;
let base: string;
let dir: string;
let asides: ModelRequest[];
let person: Wire | undefined;
beforeEach(async () => {
  world = new World();
  world.settings({ memory: { extract: false } });
  base = realpathSync(mkdtempSync(fileURLToPath(new URL("../node_modules/.tidied-", import.meta.url))));
  mkdirSync(join(base, ".git"));
  writeFileSync(join(base, "plan.txt"), "PLAN");
  asides = [];
});
afterEach(async () => {
  await person?.close();
  await world.close();
  await server.close();
  rmSync(base, { recursive: true, force: true });
});

const crux = (args: readonly string[]) => world.crux(args, { cwd: base, env: modelEnv(server, "anthropic") });

/** A session that says something once; the fork gets these answers in turn. */
async function talk(aside: (n: number) => Answer): Promise<void> {
  const script: Answer = (request) => {
    if (!request.rawBody.includes("Tidy the notes of memory below")) return text("Yes.");
    asides.push(request);
    const answer = aside(asides.length);
    return typeof answer === "function" ? answer(request) : answer;
  };
  server = await startModelServer({ script });
  await crux(["trust", "--yes"]);
  const { folders } = JSON.parse((await crux(["memory", "--json"])).stdout).data;
  dir = folders.local;
  mkdirSync(dir, { recursive: true });
  for (const [name, body] of Object.entries({ ...NOTES, ".tidy.md": DUE }))
    writeFileSync(join(dir, name), body);
  const told = { cwd: base, env: { ...world.env, ...modelEnv(server, "anthropic") } };
  person = (await attended(world.socket, "hello, WORDS of mine", told)).wire;
}

/** The session, and its fork once that has ended. */
async function forked(): Promise<{ readonly session: number; readonly fork: number }> {
  const shown = JSON.parse((await crux(["ps", "-a", "--json", "--verbose"])).stdout).data.processes;
  const [session] = shown.filter(({ ppid }: { ppid: number }) => ppid === 0);
  const [fork] = shown.filter(({ ppid }: { ppid: number }) => ppid === session.pid);
  await crux(["wait", String(fork.pid)]);
  await person?.close();
  return { session: session.pid, fork: fork.pid };
}

const files = () =>
  Object.fromEntries(
    readdirSync(dir)
      .filter((name) => !name.startsWith("."))
      .map((name) => [name, readFileSync(join(dir, name), "utf8")]),
  );

it("they are put together by its program as its model says, which can write nothing; the user takes it back", async () => {
  await talk((n) =>
    n === 1
      ? toolUse({ name: "write", input: { file_path: join(dir, "stray.md"), content: "x" } }).and(
          toolUse({ name: "view", input: { file_path: "plan.txt" } }),
          toolUse({ name: "bash", input: { command: "touch ran" } }),
        )
      : text(TIDIED),
  );
  const { session, fork } = await forked();
  const [first, second] = asides;
  expect(first?.rawBody).toContain("Mocks hid a broken migration");
  expect(first?.rawBody).not.toContain("WORDS of mine");
  expect(second?.lastToolResults.map(({ isError }) => isError)).toEqual([true, false, true]);
  expect(files()).toEqual({ "MEMORY.md": "- [Tests](tests.md) — no mocks\n", "tests.md": BOTH });
  expect(existsSync(join(base, "ran"))).toBe(false);
  expect(readFileSync(join(dir, ".tidy.md"), "utf8")).toMatch(/tidied: 2\S+\nsessions: 0\nbegun:\n/);
  expect((await crux(["memory"])).stdout).not.toContain(".tidy");
  expect((await crux(["context", String(session), "--messages"])).stdout).not.toContain("Tidy the notes");
  expect((await crux(["replay", String(fork)])).stdout).toContain("0 differences");
  const back = await crux(["memory", "undo"]);
  expect([back.code, back.stdout.match(/as it was/g)?.length], back.stderr).toEqual([0, 3]);
  expect(files()).toEqual(NOTES);
  await crux(["kill", String(session)]);
  expect((await crux(["replay", String(session)])).stdout).toContain("0 differences");
});

it.each([
  ["would lose a note", () => text('<note file="MEMORY.md">\n- [Tests](tests.md) — no mocks\n</note>')],
  [
    "says of a note that has changed meanwhile",
    () => {
      writeFileSync(join(dir, "mocks.md"), "MINE");
      return text(TIDIED);
    },
  ],
])("an answer that %s changes nothing, and the next try waits", async (_what, answer) => {
  await talk(answer);
  const before = files();
  await forked();
  expect({ ...files(), "mocks.md": "" }).toEqual({ ...before, "mocks.md": "" });
  expect(readFileSync(join(dir, ".tidy.md"), "utf8")).toMatch(/tidied: 2\S+\nsessions: 0\nbegun:\n/);
});
