/** What lies on disk: whose it is to read, and that no key, variable or header of a person is in it. */
import { execFile } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { escapeVariables } from "../src/abi/compose/variables.ts";
import { unconfined } from "./harness/confined.ts";
import { inTurn, MODEL_KEY, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
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

beforeTries(
  async () => {
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
    const args = JSON.stringify([escapeVariables(SCRIPTED), "--api-key", SECRETS.header]);
    const entry = `{ command: ${JSON.stringify(escapeVariables(process.execPath))}, args: ${args}, env: { TOKEN: ${SECRETS.server} } }`;
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
  },
  async () => {
    await server.close();
    await world.close();
  },
);

const crux = (...args: string[]): Promise<Run> => world.crux(args, { env });

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

/** Forms in which a secret would be found, whatever it stands in. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const base64 = ["", "x", "xy"].map((lead) => {
    const whole = Buffer.from(`${lead}${secret}`).toString("base64").replace(/=+$/, "");
    return whole.slice(lead.length === 0 ? 0 : lead.length + 1, -2);
  });
  return [secret, bytes.toString("hex"), bytes.toString("hex").toUpperCase(), ...base64];
}

describe("a planted key", () => {
  const OF_ENV = "planted-4c1f9a7d3e";
  const OF_FILE = `ghp_${"Qx7Lm2Zt9".repeat(4)}`;
  const OF_COMMAND = "sk-live-9f8e7d6c5b4a39281706";
  const OF_ERROR = "AKIAZ7QWERTY12345678";
  let models: ModelServer;

  beforeTries(
    async () => {
      world.write(".env", `GITHUB_TOKEN=${OF_FILE}\n`);
      world.write("keys.txt", `one ${OF_COMMAND}\n`);
      const base64 = Buffer.from(`x${OF_ENV}`).toString("base64");
      models = await startModelServer({
        script: [
          {
            default: inTurn(
              toolUse([{ name: "bash", input: { command: `printf 'env %s\\n' ${OF_ENV}; cat keys.txt` } }]),
              toolUse([
                {
                  name: "bash",
                  input: { command: `echo ${base64} | base64 -d; printf '%70000d\\n' 7; cat keys.txt` },
                },
              ]),
              toolUse([{ name: "view", input: { file_path: join(world.work, `no-${OF_ERROR}.txt`) } }]),
              toolUse([{ name: "view", input: { file_path: join(world.work, ".env") } }]),
              toolUse([
                { name: "write", input: { file_path: join(world.work, "out.txt"), content: OF_COMMAND } },
              ]),
              toolUse([{ name: "bash", input: { command: "echo '[redacted:sk:0a1b2c]' > lost.txt" } }]),
              text(`Done with ${OF_COMMAND}.`),
            ),
          },
        ],
      });
    },
    () => models.close(),
  );

  /** An agent with a person, who allows all that is asked. The questions. */
  async function grantedRead(own: Record<string, string>): Promise<readonly unknown[]> {
    await using wire = await Wire.open(world.socket);
    const environment = { ...world.env, ...own };
    const intent = `Use ${OF_COMMAND}`;
    const wish = { intent, interactive: true, cwd: world.work, permission_mode: "bypass", env: environment };
    expect(await wire.ask("spawn", wish)).toMatchObject({ ok: true });
    const questions: unknown[] = [];
    for (let line = await wire.next(); line !== undefined; line = await wire.next()) {
      if (line.payload?.event === "complete") return questions;
      if (line.payload?.event !== "ask") continue;
      questions.push(line.payload);
      await using hand = await Wire.open(world.socket);
      await hand.ask("ask.answer", { ask_id: line.payload.ask_id, answer: "yes" });
    }
    return questions;
  }

  it("is in no file of the state folder, in no form, nor in what the model is sent unless a person let it be read", async () => {
    const own = { ...modelEnv(models), PLANTED_TOKEN: OF_ENV };
    const wire = await world.crux(
      ["-q", "--permission-mode", "bypass", "--allow", "view(.env)", `Use ${OF_COMMAND} and ${OF_ENV}`],
      { env: own },
    );
    expect(wire).toMatchObject({ code: 0 });
    expect(world.file("out.txt")).toBe(OF_COMMAND);
    expect(() => world.file("lost.txt")).toThrow();
    const sent = JSON.stringify(models.requests.map(({ body }) => body));
    for (const secret of [OF_ENV, OF_COMMAND, OF_ERROR]) expect(sent, secret).not.toContain(secret);
    expect(sent).toMatch(/one \[redacted:sk:[0-9a-f]{6}\]/);
    expect(sent).toContain("stands for a secret that is not known here");
    const asked = await grantedRead({ ...modelEnv(models), PLANTED_TOKEN: OF_ENV });
    expect(JSON.stringify(asked)).not.toContain(OF_COMMAND);
    // what a person let it read is what its model is sent
    expect(JSON.stringify(models.requests.at(-1)?.body)).toContain(OF_FILE);
    await crux("daemon", "stop");
    const files = entries().filter((path) => lstatSync(path).isFile());
    expect(files.length).toBeGreaterThan(3);
    const lines = await records(Number((await crux("ps", "-q", "-a")).stdout.split("\n").at(-2) ?? 0) + 20);
    const found = [OF_ENV, OF_FILE, OF_COMMAND, OF_ERROR].flatMap((secret) =>
      formsOf(secret).flatMap((form) => [
        ...files.filter((path) => readFileSync(path).includes(form)).map((path) => `${form} is in ${path}`),
        ...lines.filter((line) => line.includes(form)).map((line) => `${form}: ${line.slice(0, 300)}`),
      ]),
    );
    expect(found).toEqual([]);
  });
});

describe("the state folder", () => {
  it("holds no secret of a person, after runs, sessions, forks, projects and a daemon that was killed", async () => {
    const flags = ["--permission-mode", "bypass"];
    expect(await crux("-q", "--agent", "linked", ...flags, "write")).toMatchObject({ code: 0 });
    const chat = await world.crux(["chat", "-q", ...flags], {
      env,
      stdin: "write again\n",
    });
    expect(chat).toMatchObject({ code: 0 });
    expect(await crux("compose", "up", "-d", "--trust")).toMatchObject({ code: 0 });
    const sleepers = () => world.commands(/^sleep 300$/).length;
    expect(await settled(sleepers, (n) => n === 1)).toBe(1);
    process.kill(world.daemonPid as number, "SIGKILL");
    // without bubblewrap the next daemon ends what the service has started
    if (unconfined === undefined) expect(await settled(sleepers, (n) => n === 0)).toBe(0);
    const forked = await crux("fork", "1", "-m", "again", "--json");
    const highest = (JSON.parse(forked.stdout) as { data: { pid: number } }).data.pid;
    expect(await settled(sleepers, (n) => n === 0)).toBe(0);
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
