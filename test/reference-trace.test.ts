/**
 * The reference trace of the reasoning loop: unused imports are found and deleted in a small repository, by glob, grep, reading,
 * old results cleared on the way, three edits, and a text.
 */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onStage();

const FILES = 42;
/** Files with imports, eight lines each. */
const IMPORTING = 15;
const UNUSED = [2, 5, 9];
const READ = 9;

const path = (n: number): string => `src/part-${n}.ts`;
const unusedImport = (n: number): string => `import { join as unused${n} } from "node:path";`;

function source(n: number): string {
  const imports = Array.from({ length: n < IMPORTING ? 8 : 0 }, (_, i) =>
    i === 3 && UNUSED.includes(n) ? unusedImport(n) : `import { part${i} } from "./lib/part-${n}-${i}.ts";`,
  );
  const lines = Array.from(
    { length: 220 },
    (_, i) => `export const value${n}_${i} = ${i} * ${n}; // a line of the part`,
  );
  return [...imports, ...lines, ""].join("\n");
}

const call = (name: string, input: object) => toolUse({ name, input });
const results = (request: ModelRequest | undefined): string[] =>
  (request?.lastToolResults ?? []).map(({ content }) => String(content));

it("finds and deletes the unused imports, and completes", async () => {
  for (let n = 0; n < FILES; n++) world.write(path(n), source(n));
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@localhost", ...args], {
      cwd: world.work,
      encoding: "utf8",
    });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "parts");
  const steps = [
    call("glob", { pattern: "src/*.ts" }),
    call("grep", { pattern: "^import ", path: "src" }),
    ...Array.from({ length: READ }, (_, n) => call("view", { file_path: path(n + 1) })),
    ...UNUSED.map((n) =>
      call("edit", { file_path: path(n), old_string: `${unusedImport(n)}\n`, new_string: "" }),
    ),
    text("Three unused imports are deleted."),
  ];
  await serve((request) => steps[request.assistantTurns] ?? text("too many"), "anthropic");
  const env = { CRUX_MAX_CONTEXT_TOKENS: "48000" };
  const intent = "find and delete the unused imports";
  const run = await world.crux(["--permission-mode", "accept_edits", "--max-steps", "30", "-q", intent], {
    env,
  });
  expect([run.code, run.stdout]).toEqual([0, "Three unused imports are deleted.\n"]);

  const found = results(server.requests[1])[0] ?? "";
  expect(found.split("\n").filter((line) => /part-\d+\.ts$/.test(line))).toHaveLength(FILES);
  const hits = (results(server.requests[2])[0] ?? "").split("\n").filter((line) => line.includes("import "));
  expect(hits).toHaveLength(8 * IMPORTING);
  expect(new Set(hits.map((line) => /part-\d+\.ts/.exec(line)?.[0])).size).toBe(IMPORTING);

  // the old results were cleared, not summarised, and what was cleared is named as such
  const { stdout } = await world.crux(["journal", "1", "--json"]);
  const records = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { kind: string; body: { boundary?: { layer: string } } });
  const layers = records.flatMap(({ kind, body }) => (kind === "ctx.move" ? [body.boundary?.layer] : []));
  expect(new Set(layers)).toEqual(new Set(["micro"]));

  const deleted = git("diff", "--unified=0")
    .split("\n")
    .filter((line) => /^[-+](?![-+])/.test(line));
  expect(deleted).toEqual(UNUSED.map((n) => `-${unusedImport(n)}`));
  expect(server.rejected).toEqual([]);
  expect((await world.crux(["replay", "1"])).stdout).toContain("0 differences");
});
