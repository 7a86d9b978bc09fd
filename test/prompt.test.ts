/** What the model is told before the first word: where it is, what it may do there, and no more bytes than that needs. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onSharedStage, serveInTurn, server, world } from "./harness/stage.ts";
import { text, toolUse } from "./model-server/reply.ts";

/** Not below a temporary directory: there trust would end with each run. */
const PLACE = fileURLToPath(new URL("../node_modules", import.meta.url));
const MAX_FIRST_REQUEST = 9_000;

onSharedStage();

let repo: string;
beforeEach(async () => {
  repo = realpathSync(mkdtempSync(join(PLACE, ".prompt-system-")));
  await serveInTurn(toolUse({ name: "ls", input: {} }), text("Done."));
});
afterEach(() => {
  for (const path of [repo, join(world.dir, "config/crux/AGENTS.md")])
    rmSync(path, { recursive: true, force: true });
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
    git("commit", "-qm", "zero ".repeat(40));
    git("commit", "-q", "--allow-empty", "-m", `the first of all ${"one ".repeat(40)}`);
    put("b.txt", "two");
    for (let at = 0; at < 200; at++) put(`further-${at}-${"x".repeat(40)}.txt`, "");
    await crux(["trust", "--yes"]);
    const { code, stderr } = await crux(["look around"]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    expect(system()).toContain(`Working directory: ${repo}`);
    expect(system()).toMatch(/Shell: bash\nScratch folder: \/\S+, in commands also \$CRUX_SCRATCH/);
    expect(system()).toContain("Git when you started: branch trunk");
    expect(system()).toContain("?? b.txt");
    expect(system()).toContain("the first of all");
    expect(system(1)).toBe(system(0));
    // the list of skills and the memory count beside it
    const skills = Buffer.byteLength(JSON.stringify(bodies()[0]?.messages[1]));
    expect(Buffer.byteLength(server.requests[0]?.rawBody ?? "") - skills).toBeLessThanOrEqual(
      MAX_FIRST_REQUEST,
    );
  });

  it("asks no git about a folder that is not trusted", async () => {
    git("init", "-q", "-b", "trunk");
    git("config", "core.fsmonitor", "touch ran; false");
    await crux(["look around"]);
    expect(system()).not.toContain("Git when you started");
    expect(existsSync(join(repo, "ran"))).toBe(false);
  });
});

describe("instruction files", () => {
  const first = () => JSON.stringify(bodies()[0]?.messages[1]?.content);

  it("of user and project are read in order, before the intent and not in the system prompt, once trusted", async () => {
    git("init", "-q");
    put("AGENTS.md", "PROJECT RULE, with @docs/more.md and @../outside.md");
    put("CLAUDE.md", "PROJECT RULE, with @docs/more.md and @../outside.md");
    put("docs/more.md", "IMPORTED RULE");
    mkdirSync(join(world.dir, "config/crux"), { recursive: true });
    writeFileSync(join(world.dir, "config/crux/AGENTS.md"), "USER RULE");
    await crux(["look around"]);
    expect(first()).toContain("USER RULE");
    expect(first()).not.toContain("PROJECT RULE");
    server.requests.length = 0;
    await crux(["trust", "--yes"]);
    await crux(["look around"]);
    expect(first()).toMatch(/^.*USER RULE.*IMPORTED RULE.*PROJECT RULE.*look around/s);
    expect(first().split("PROJECT RULE")).toHaveLength(2);
    expect(system()).not.toContain("RULE");
  });

  it("are left out where a rule denies the process to view them, and the log names the rule", async () => {
    git("init", "-q");
    put("AGENTS.md", "PROJECT RULE");
    put("CLAUDE.md", "OTHER RULE");
    await crux(["trust", "--yes"]);
    const { stdout } = await crux(["look around", "--deny", "view(AGENTS.md)", "--json"]);
    expect(first()).toContain("OTHER RULE");
    expect(first()).not.toContain("PROJECT RULE");
    expect((await crux(["logs", String(JSON.parse(stdout).data.pid)])).stdout).toMatch(
      /AGENTS\.md was left out: .*view\(AGENTS\.md\).* denies it/,
    );
  });

  it("below the folder are read once a call touches one, and only as they were seen", async () => {
    git("init", "-q");
    put("sub/AGENTS.md", "NESTED RULE");
    put("sub/a.txt", "a");
    await crux(["trust", "--yes"]);
    const view = toolUse({ name: "view", input: { file_path: "sub/a.txt" } });
    await server.close();
    await server.close();
    await serveInTurn(view, view, text("Done."));
    await crux(["read it"]);
    expect(server.requests[0]?.rawBody).not.toContain("NESTED RULE");
    expect(server.requests.map(({ rawBody }) => rawBody.split("NESTED RULE").length - 1)).toEqual([0, 1, 1]);
    put("sub/AGENTS.md", "CHANGED RULE");
    await crux(["read it again"]);
    expect(server.requests.at(-1)?.rawBody).not.toContain("CHANGED RULE");
  });
});
