import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { loadComposeProject } from "./compose-source.ts";

const all = mkdtempSync(join(tmpdir(), "crux-source-"));
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(all, "dir-"));
});
afterAll(() => rmSync(all, { recursive: true }));

const at = (name: string, more = "") => ({ path: join(dir, name), dir, name: more });

test("loadComposeProject() reads, fills in and checks the file as a client would", async () => {
  writeFileSync(join(dir, "a.yaml"), 'services: { a: { command: [ls, "${WHERE}"] } }\n');
  const project = await loadComposeProject(at("a.yaml", "shop"), { WHERE: "/desk" });
  expect(project.name).toBe("shop");
  expect(project.services).toMatchObject([
    { name: "a", cwd: dir, program: { kind: "native", command: ["ls", "/desk"] } },
  ]);
  await expect(loadComposeProject(at("a.yaml"), {})).rejects.toThrow(
    "services.a.command[1]: variable WHERE is not set",
  );
});

test("loadComposeProject() says what is wrong, and waits for nothing", async () => {
  writeFileSync(join(dir, "bad.yaml"), "services: [\n");
  mkdirSync(join(dir, "folder"));
  execFileSync("mkfifo", [join(dir, "pipe")]);
  writeFileSync(join(dir, "long.yaml"), "#".repeat(1024 * 1024 + 1));
  for (const [name, message] of [
    ["none.yaml", /^it is gone$/],
    ["bad.yaml", /^bad\.yaml: line 2, column 1: /],
    ["folder", /^it is not a file that can be read again$/],
    ["pipe", /^it is not a file that can be read again$/],
    ["long.yaml", /^longer than 1048576 bytes$/],
  ] as const)
    await expect(loadComposeProject(at(name), {})).rejects.toThrow(message);
});
