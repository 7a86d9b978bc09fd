/** What lies on disk: whose it is to read, and that no key, variable or header of a person is in it. */
import { execFile } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inTurn, MODEL_KEY, modelEnv } from "./harness/model.ts";
import { CRUX, type Run, settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const SCRIPTED = fileURLToPath(new URL("../src/dev/mcp/testing/scripted-server.ts", import.meta.url));
const run = promisify(execFile);
const SECRETS = {
  variable: "variable-0f4e1c77",
  server: "server-9a3b6d21",
  header: "argument-5c8e2f90",
  service: "service-71d0a4be",
  word: "command-3e9f8a16",
} as const;

let world: World;
let server: ModelServer;
let env: Record<string, string>;

beforeAll(async () => {
  world = new World();
  server = await startModelServer({
    script: [
      {
        default: inTurn(
          toolUse([{ name: "write", input: { file_path: join(world.work, "a.txt"), content: "one\n" } }]),
          toolUse([{ name: "bash", input: { command: "test -n \"$DEPLOY\" && printf '%80000d' 7" } }]),
          text("Done."),
        ),
      },
    ],
  });
  env = { ...modelEnv(server), DEPLOY: SECRETS.variable, WORD: SECRETS.word };
  const agent = join(world.dir, "config/crux/agents/linked");
  mkdirSync(agent, { recursive: true });
  const args = JSON.stringify([SCRIPTED, "--api-key", SECRETS.header]);
  const entry = `{ command: ${process.execPath}, args: ${args}, env: { TOKEN: ${SECRETS.server} } }`;
  writeFileSync(
    join(agent, "agent.yaml"),
    `name: linked\ntools: [write, bash]\nmcpServers: { far: ${entry} }\n`,
  );
  writeFileSync(join(agent, "instructions.md"), "Do as you are told.\n");
  writeFileSync(
    join(world.work, "crux.compose.yaml"),
    `name: shop
services:
  till:
    command: [sh, -c, "sleep 300", till, --token, "\${WORD}"]
    env: { TILL: ${SECRETS.service}, DEPLOY: "\${DEPLOY}" }
  clerk:
    agent: linked
    intent: Count.
`,
  );
  await run("sh", ["-c", 'umask 0; exec "$0" daemon start', CRUX], { env: { ...world.env, ...env } });
});
afterAll(async () => {
  await server.close();
  await world.close();
});

const crux = (...args: string[]): Promise<Run> => world.crux(args, { env, timeoutMs: 50_000 });

/** Every file and folder below the state folder. */
function entries(dir = join(world.dir, "state")): readonly string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    return entry.isDirectory() ? [path, ...entries(path)] : [path];
  });
}

/** Every record of every process, their texts whole. */
async function records(highest: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for (let pid = 0; pid <= highest; pid++)
    lines.push(...(await crux("journal", String(pid), "--json")).stdout.split("\n"));
  return lines;
}

describe("the state folder", () => {
  it("holds no secret of a person, after runs, sessions, forks, projects and a daemon that was killed", async () => {
    const flags = ["--permission-mode", "bypass"];
    expect(await crux("-q", "--agent", "linked", ...flags, "write")).toMatchObject({ code: 0 });
    const chat = await world.crux(["chat", "-q", ...flags], {
      env,
      stdin: "write again\n",
      timeoutMs: 50_000,
    });
    expect(chat).toMatchObject({ code: 0 });
    expect(await crux("compose", "up", "-d")).toMatchObject({ code: 0 });
    const sleepers = () => world.commands(/^sleep 300$/).length;
    expect(await settled(sleepers, (n) => n === 1, 10_000)).toBe(1);
    process.kill(world.daemonPid as number, "SIGKILL");
    expect(await settled(sleepers, (n) => n === 0, 10_000)).toBe(0);
    const forked = await crux("fork", "1", "-m", "again", "--json");
    const highest = (JSON.parse(forked.stdout) as { data: { pid: number } }).data.pid;
    await crux("compose", "down");
    const lines = await records(highest);
    expect(lines.length).toBeGreaterThan(50);
    for (const name of ["compose:shop", "--token", "linked", "write again", "process.forked"])
      expect(
        lines.some((line) => line.includes(name)),
        name,
      ).toBe(true);
    const files = entries().filter((path) => lstatSync(path).isFile());
    const found = [MODEL_KEY, ...Object.values(SECRETS)].flatMap((secret) => [
      ...lines.filter((line) => line.includes(secret)),
      ...files.filter((path) => readFileSync(path).includes(secret)).map((path) => `${secret} is in ${path}`),
    ]);
    expect(found).toEqual([]);
  });

  it("is its owner's alone, whatever the umask was", async () => {
    const all = entries(join(world.dir, "state/crux"));
    expect(all.length).toBeGreaterThan(10);
    expect(lstatSync(join(world.dir, "state/crux")).mode & 0o077).toBe(0);
    const isOpen = (path: string): boolean => (lstatSync(path).mode & 0o077) !== 0;
    expect(all.filter(isOpen)).toEqual([]);
  });
});
