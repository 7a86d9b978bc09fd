/** docs/security.md: its settings hold what it says of them, its files exist, its commands are commands. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { modelEnv } from "../harness/model.ts";
import { World } from "../harness/world.ts";
import { text, toolUse } from "../model-server/reply.ts";
import { startModelServer } from "../model-server/server.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(ROOT, "docs/security.md"), "utf8");
const [, strict = ""] = /^```json settings\n([\s\S]*?)^```$/m.exec(page) ?? [];

/** What the model reads of each call, as in a run that nobody watches. */
async function told(world: World, calls: readonly { name: string; input: object }[]): Promise<string[]> {
  const results: string[] = [];
  for (const call of calls) {
    const script = [{ default: text("Done.") }, toolUse(call)];
    await using server = await startModelServer({ script });
    const run = await world.crux(["try it"], { env: modelEnv(server) });
    expect(run.code).toBe(0);
    results.push(
      ...server.requests.flatMap((request) => request.lastToolResults.map(({ content }) => content)),
    );
  }
  return results;
}

test("the strict settings allow what they name, and refuse the rest", async () => {
  const world = new World();
  onTestFinished(() => world.close());
  world.settings(JSON.parse(strict));
  await world.crux(["ps"]);
  world.write("private/k", "canary");
  world.write("a.txt", "content\n");
  const bash = (command: string) => ({ name: "bash", input: { command } });
  const write = (file_path: string) => ({ name: "write", input: { file_path, content: "x\n" } });
  const view = (file_path: string) => ({ name: "view", input: { file_path } });
  const status = JSON.parse((await world.crux(["daemon", "status", "--json"])).stdout);
  const [seen, secret, inside, outside, listed, made, page] = await told(world, [
    ...[view("a.txt"), view("private/k"), write("out/a"), write("b.txt"), bash("ls"), bash("touch c")],
    { name: "tool_call", input: { tool: "fetch", params: { url: "https://example.org/" } } },
  ]);
  expect(seen).toBe("content\n");
  expect(secret).toMatch(/^Error \[PERMISSION\]/);
  expect(inside).toMatch(/^Created out\/a/);
  expect(outside).toMatch(/^Error \[PERMISSION\]/);
  expect(listed).toMatch(status.data.sandbox.available ? /^a\.txt\n/ : /^Error \[UNAVAILABLE\]/);
  expect(made).toMatch(/^Error \[(?:PERMISSION|UNAVAILABLE)\]/);
  expect(page).toMatch(/^Error/);
  expect(existsSync(join(world.work, "c"))).toBe(false);
});

test("the strict settings close bypass to a run that asks for it", async () => {
  const world = new World();
  onTestFinished(() => world.close());
  world.settings(JSON.parse(strict));
  await using server = await startModelServer({
    script: [{ default: text("Done.") }, toolUse({ name: "bash", input: { command: "touch c" } })],
  });
  await world.crux(["--permission-mode", "bypass", "try it"], { env: modelEnv(server) });
  expect(existsSync(join(world.work, "c"))).toBe(false);
});

test("every file that it names is there", () => {
  const named = [...page.matchAll(/`([\w./-]+\.(?:md|ts))`/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(12);
  const missing = named.filter((name) => !existsSync(join(ROOT, dirname(name) === "." ? "docs" : "", name)));
  expect(missing).toEqual([]);
});

test("every command of crux that it names is one", async () => {
  const world = new World();
  onTestFinished(() => world.close());
  const commands = [...page.matchAll(/`crux ([a-z]+)/g)].map(([, name = ""]) => name);
  expect(commands.length).toBeGreaterThan(1);
  for (const name of commands) expect((await world.crux(["help", name])).code, name).toBe(0);
});
