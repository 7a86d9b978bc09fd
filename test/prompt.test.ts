/** What the model is told before the first word: where it is, what it may do there, and no more bytes than that needs. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inTurn, modelEnv } from "./harness/model.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

/** Not below a temporary directory: there trust would end with each run. */
const PLACE = fileURLToPath(new URL("../node_modules", import.meta.url));
const MAX_FIRST_REQUEST = 9_000;

let world: World;
let server: ModelServer;
let repo: string;
beforeEach(async () => {
  world = new World();
  repo = realpathSync(mkdtempSync(join(PLACE, ".prompt-system-")));
  server = await startModelServer({ script: inTurn(toolUse({ name: "ls", input: {} }), text("Done.")) });
});
afterEach(async () => {
  await world.close();
  await server.close();
  rmSync(repo, { recursive: true, force: true });
});

function put(name: string, content: string): void {
  mkdirSync(dirname(join(repo, name)), { recursive: true });
  writeFileSync(join(repo, name), content);
}
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=a@b", ...args], { cwd: repo, stdio: "pipe" });
const crux = (args: readonly string[]) => world.crux(args, { cwd: repo, env: modelEnv(server) });
const bodies = () =>
  server.requests.map(({ body }) => body as { messages: { role: string; content: unknown }[] });
const system = (at = 0) => String(bodies()[at]?.messages[0]?.content);

describe("the system prompt", () => {
  it("tells folder, shell, scratch folder and git state, alike in each request, in 9,000 bytes", async () => {
    git("init", "-q", "-b", "trunk");
    put("a.txt", "one");
    git("add", ".");
    git("commit", "-qm", "the first of all");
    put("b.txt", "two");
    await crux(["trust", "--yes"]);
    const { code, stderr } = await crux(["look around"]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    expect(system()).toContain(`Working directory: ${repo}`);
    expect(system()).toMatch(/Shell: bash\nScratch folder: \/\S+, in commands also \$CRUX_SCRATCH/);
    expect(system()).toContain("Git when you started: branch trunk");
    expect(system()).toContain("?? b.txt");
    expect(system()).toContain("the first of all");
    expect(system(1)).toBe(system(0));
    expect(Buffer.byteLength(server.requests[0]?.rawBody ?? "")).toBeLessThanOrEqual(MAX_FIRST_REQUEST);
  });

  it("asks no git about a folder that is not trusted", async () => {
    git("init", "-q", "-b", "trunk");
    git("config", "core.fsmonitor", "touch ran; false");
    await crux(["look around"]);
    expect(system()).not.toContain("Git when you started");
  });
});
