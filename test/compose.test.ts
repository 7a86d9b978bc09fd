/** `crux compose` from end to end: files on disk, real programs, agents on a model server; nothing is left behind. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { masked } from "./harness/mask.ts";
import { modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { CRUX, type Run, type Running, settled, World } from "./harness/world.ts";
import { text } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;
/** Compose files of one test, in a folder of their own. */
let dir: string;
let tests = 0;

beforeTries(
  async () => {
    world = new World();
    // a budget in money needs a price
    world.settings({ models: { "test-model": { price: { input: 1, output: 5 } } } });
    const agent = join(world.dir, "config/crux/agents/writer");
    mkdirSync(agent, { recursive: true });
    writeFileSync(join(agent, "agent.yaml"), "name: writer\ndescription: Writes.\n");
    writeFileSync(join(agent, "instructions.md"), "You write release notes.\n");
    server = await startModelServer({
      script: [{ default: () => text("The notes.").usage({ input: 700, output: 112 }) }],
    });
  },
  async () => {
    await server.close();
    await world.close();
  },
);
beforeEach(() => {
  tests += 1;
  dir = join(world.work, `notes-${tests}`);
  mkdirSync(dir);
});
afterEach(async () => {
  await crux("down");
  expect(await processes()).toEqual([]);
});

const inFolder = (args: readonly string[]) => ["compose", ...args, ...(args[0] === "up" ? ["--trust"] : [])];
const crux = (...args: string[]): Promise<Run> =>
  world.crux(inFolder(args), { cwd: dir, env: modelEnv(server) });
const start = (...args: string[]): Running =>
  world.start(inFolder(args), { cwd: dir, env: modelEnv(server) });
const file = (content: string): void => writeFileSync(join(dir, "crux.compose.yaml"), content);
async function processes(): Promise<number[]> {
  const { stdout } = await world.crux(["ps", "-q"]);
  return stdout.split("\n").filter(Boolean).map(Number);
}

interface Row {
  readonly service: string;
  readonly replica: number;
  readonly pid: number | null;
  readonly state: string;
  readonly exit_code: number | null;
  readonly restarts: number;
}
async function rows(): Promise<readonly Row[]> {
  const { stdout } = await crux("ps", "--json");
  const { data } = JSON.parse(stdout) as { data?: { services: Row[] } };
  return data?.services ?? [];
}
const when = (wanted: (all: readonly Row[]) => boolean): Promise<readonly Row[]> => settled(rows, wanted);
const sleepers = (count: number): Promise<number> =>
  settled(
    () => world.commands(/^(?:\S*\/)?sleep 300$/).length,
    (found) => found === count,
  );

const SAMPLE = `name: notes
budget: { tokens: 200000, usd: 2 }
services:
  collector:
    command: [printf, "%s\\\\n", "\${LINE:-3f2a1c0 fix parser}"]
  writer:
    agent: writer
    intent: Draft release notes from the log you are given
    model: test-model
    budget: { tokens: 50000 }
    group: authors
    depends_on: { collector: { condition: completed } }
    restart: transient
pipes:
  - { from: collector, to: writer }
`;

describe("the sample of the manual", () => {
  it("is the screen of the manual; the agent reads what the program wrote", async () => {
    file(SAMPLE);
    const { code, stdout, stderr } = await crux("up");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(masked(stdout)).toBe(
      masked(`[compose] notes: starting 2 services
[compose] collector-1: started (PID 4)
[compose] writer-1: waiting for collector (completed)
collector-1 | 3f2a1c0 fix parser
[compose] collector-1: exited(0)
[compose] writer-1: started (PID 5)
writer-1    | [agent/5] reasoning step 1...
[compose] writer-1: exited(0)
[compose] notes: done | tokens: 812 | elapsed: 4.0s
`),
    );
    const request = server.requests.at(-1)!;
    expect(request.rawBody).toContain("Draft release notes from the log you are given");
    expect(request.lastUserText).toContain("3f2a1c0 fix parser");
  });

  it("--json is one event a line, and the variable of this terminal counts", async () => {
    file(SAMPLE);
    const { code, stdout } = await world.crux(["compose", "up", "--trust", "--json"], {
      cwd: dir,
      env: { ...modelEnv(server), LINE: "from here" },
    });
    expect(code).toBe(0);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string; text?: string });
    expect(events.map(({ event }) => event).filter((event) => event !== "up")).toEqual([
      ...["starting", "started", "waiting", "log", "exited", "started", "log", "exited", "done"],
    ]);
    expect(events.find(({ event }) => event === "log")?.text).toBe("from here");
  });

  it("is the same where a script answers; without a model it says so, and that it cannot do it", async () => {
    const sample = SAMPLE.replace("    model: test-model\n", "");
    file(sample.replace("    restart: transient\n", ""));
    const unset = await world.crux(["compose", "up", "--trust"], { cwd: dir });
    expect(unset.code).toBe(1);
    expect(unset.stderr).toMatch(/No model is set up: answered by the built-in interpreter/);
    file(sample);
    const scripted = {
      CRUX_SCENARIO: fileURLToPath(new URL("../lib/scenarios/survey.yaml", import.meta.url)),
    };
    const { code, stdout } = await world.crux(["compose", "up", "--trust"], { cwd: dir, env: scripted });
    expect(code).toBe(0);
    const shown = stdout.split("\n").filter((line) => line.startsWith("[compose]"));
    expect(masked(shown.join("\n"))).toBe(
      masked(`[compose] notes: starting 2 services
[compose] collector-1: started (PID 4)
[compose] writer-1: waiting for collector (completed)
[compose] collector-1: exited(0)
[compose] writer-1: started (PID 5)
[compose] writer-1: exited(0)
[compose] notes: done | tokens: 812 | elapsed: 4.0s`),
    );
  });

  it("an agent's result goes to the program it is piped to", async () => {
    file(`services:
  writer: { intent: write }
  save: { command: [tee, notes.md] }
pipes: [{ from: writer, to: save }]
`);
    const { code, stdout } = await crux("up");
    expect(code).toBe(0);
    expect(stdout).toContain("save-1   | The notes.\n");
    expect(readFileSync(join(dir, "notes.md"), "utf8").trimEnd()).toBe("The notes.");
  });

  it("config prints a file that says the same", async () => {
    file(SAMPLE);
    const first = await crux("config");
    expect(first.code).toBe(0);
    expect(first.stdout).toContain("- 3f2a1c0 fix parser\n");
    file(first.stdout);
    expect((await crux("config")).stdout).toBe(first.stdout);
  });
});

const FIVE = `name: five
backoff: { initial_ms: 50, jitter: 0 }
services:
  web:
    command: [sleep, "300"]
    restart: permanent
    depends_on: [api, worker]
  api:
    command: [sleep, "300"]
    depends_on: { db: { condition: ready }, migrate: { condition: completed } }
  worker:
    command: [sleep, "300"]
    depends_on: [db]
  migrate:
    command: [sh, -c, "echo migrated"]
    depends_on: { db: { condition: ready } }
  db:
    command: [sh, -c, "echo listening; exec sleep 300"]
    ready: { stdout: ^listening$, timeout_ms: 20000 }
`;
const allUp = (all: readonly Row[]): boolean =>
  all.length === 5 &&
  all.every(({ service, state }) => state === (service === "migrate" ? "dead" : "running"));

describe("five services", () => {
  it("come up in order, survive a kill, and go down leaving nothing", async () => {
    file(FIVE);
    const up = await crux("up", "-d");
    expect({ code: up.code, stderr: up.stderr }).toEqual({ code: 0, stderr: "" });
    expect(masked(up.stdout)).toMatch(/^\[compose\] five: starting # services\n/);
    expect(masked(up.stdout)).toMatch(/\[compose\] db-#: started \(PID #\)\n/);
    expect(masked(up.stdout)).toMatch(/\n\[compose\] five: up \(PID #\)\n$/);

    const before = await when(allUp);
    expect(allUp(before)).toBe(true);
    const pidOf = (name: string, all = before): number => all.find(({ service }) => service === name)!.pid!;
    // pids rise: each came after what it waits for
    for (const [later, earlier] of [
      ["web", "api"],
      ["web", "worker"],
      ["api", "migrate"],
      ["api", "db"],
      ["worker", "db"],
      ["migrate", "db"],
    ] as const)
      expect({ later, earlier, inOrder: pidOf(later) > pidOf(earlier) }).toEqual({
        later,
        earlier,
        inOrder: true,
      });
    expect(await sleepers(4)).toBe(4);

    await world.crux(["kill", String(pidOf("web"))]);
    const after = await when((all) => allUp(all) && pidOf("web", all) !== pidOf("web"));
    expect(after.find(({ service }) => service === "web")).toMatchObject({ state: "running", restarts: 1 });
    expect(await sleepers(4)).toBe(4);
    const table = (await crux("ps")).stdout;
    expect(table).toMatch(
      /^SERVICE {14}N {5}PID {3}STATE {7}EXIT {3}RESTARTS {5}TOKENS {4}ELAPSED\n(?:─+ *)+\n/,
    );
    expect(table).toMatch(/^web {18}1 +\d+ {3}running {8}— {10}1 {10}0 +\d+\.\ds$/m);
    expect(table).toMatch(/^migrate {14}1 +\d+ {3}dead {11}0 {10}0 {10}0 +\d+\.\ds$/m);

    expect((await crux("logs", "migrate")).stdout).toBe("migrate-1 | migrated\n");
    expect(await crux("down")).toMatchObject({ code: 0, stdout: "[compose] five: stopped\n", stderr: "" });
    expect(await sleepers(0)).toBe(0);
    expect(await processes()).toEqual([]);
  });

  it("go on when the command that started them is killed", async () => {
    file(FIVE);
    const up = start("up");
    await up.seen("web-1: started");
    up.child.kill("SIGKILL");
    await up.done;
    expect(allUp(await when(allUp))).toBe(true);
    expect(await sleepers(4)).toBe(4);
  });

  it("are changed by the file: changed ones are replaced, the rest stays, missing ones go with --remove-orphans", async () => {
    file(FIVE);
    await crux("up", "-d");
    const before = await when(allUp);
    file(FIVE.replace('  worker:\n    command: [sleep, "300"]', '  worker:\n    command: [sleep, "301"]'));
    await crux("up", "-d");
    const worker = (all: readonly Row[]) => all.find(({ service }) => service === "worker")!;
    const after = await when((all) => allUp(all) && worker(all).pid !== worker(before).pid);
    expect(worker(after).pid).not.toBe(worker(before).pid);
    const db = (all: readonly Row[]) => all.find(({ service }) => service === "db")!.pid;
    expect(db(after)).toBe(db(before));
    file("name: five\nservices: { db: { command: [sleep, '300'] } }\n".replace("'300'", '"300"'));
    await crux("up", "-d", "--remove-orphans");
    expect(await sleepers(1)).toBe(1);
  });
});

describe("a reader that has gone", () => {
  const piped = (args: string) =>
    promisify(execFile)("bash", ["-c", `"$0" compose ${args} | true; echo "\${PIPESTATUS[0]}"`, CRUX], {
      cwd: dir,
      env: { ...world.env, ...modelEnv(server) },
    });

  it("ends up and logs -f, and the project goes on", async () => {
    file('name: quiet\nservices:\n  db:\n    command: [sleep, "300"]\n');
    await crux("up", "-d");
    for (const follow of ["up", "logs -f"])
      expect(await piped(follow)).toEqual({ stdout: "141\n", stderr: "" });
    expect((await rows()).map(({ state }) => state)).toEqual(["running"]);
  });
});

describe("Ctrl-C during up", () => {
  const STUBBORN = `services:
  deaf:
    command: [sh, -c, "trap '' TERM INT; echo deaf; while :; do sleep 300; done"]
    shutdown_ms: 60000
`;

  it("once is down: everything ends, and the code is 130", async () => {
    file(FIVE);
    const up = start("up");
    await up.seen("web-1: started");
    up.child.kill("SIGINT");
    const { code, stdout, stderr } = await up.done;
    expect({ code, stderr }).toEqual({ code: 130, stderr: "[compose] five: stopping, Ctrl-C again kills\n" });
    expect(stdout).toMatch(/\n\[compose\] five: stopped\n$/);
    expect(await sleepers(0)).toBe(0);
  });

  it("twice kills what does not heed it", async () => {
    file(STUBBORN);
    const up = start("up");
    await up.seen("deaf-1 | deaf");
    up.child.kill("SIGINT");
    await up.seen("stopping", "stderr");
    up.child.kill("SIGINT");
    expect((await up.done).code).toBe(130);
    expect(await sleepers(0)).toBe(0);
  });

  it("down with a time kills what is not gone by then", async () => {
    file(STUBBORN);
    await crux("up", "-d");
    expect(await crux("down", "--timeout", "100")).toMatchObject({ code: 0, stderr: "" });
    expect(await sleepers(0)).toBe(0);
  });
});

describe("what fails", () => {
  it("leaves those that wait for it skipped, and its code is that of the command", async () => {
    file(`name: notes
services:
  collector: { command: [sh, -c, "exit 3"] }
  writer: { intent: write, depends_on: { collector: { condition: completed } } }
`);
    const { code, stdout } = await crux("up");
    expect(code).toBe(3);
    expect(stdout).toContain("[compose] collector-1: exited(3)\n");
    expect(stdout).toContain("[compose] writer-1: skipped (collector failed)\n");
    expect(stdout).not.toContain("writer-1: started");
  });

  it("more often than it may fails the project", async () => {
    file(`name: notes
intensity: { max_restarts: 2 }
backoff: { initial_ms: 20, jitter: 0 }
services:
  writer: { command: [sh, -c, "exit 4"], restart: transient }
`);
    const { code, stdout } = await crux("up");
    expect(code).not.toBe(0);
    expect(stdout).toContain("[compose] writer-1: restarting in 0.0s (1/2)\n");
    expect(stdout).toContain("[compose] writer-1: restarting in 0.0s (2/2)\n");
    expect(stdout).toMatch(/\n\[compose\] notes: failed \(restart intensity exceeded: writer-1\)\n$/);
  });

  it.each([
    [
      "services.writer.depends_on: cycle writer → collector → writer",
      "services: { collector: { command: [sleep, '300'], depends_on: [writer] }, writer: { intent: x, depends_on: [collector] } }",
    ],
    ["services.a.comand: unknown key", "services: { z: { command: [sleep, '300'] }, a: { comand: [ls] } }"],
    [
      "services.a.command[1]: variable NOT_SET is not set",
      "services: { z: { command: [sleep, '300'] }, a: { command: [ls, '${NOT_SET}'] } }",
    ],
    ["crux.compose.yaml: line 2, column 1: ", "services: [\n"],
  ])("%s is INVALID, and nothing is started", async (message, content) => {
    file(content);
    const { code, stdout, stderr } = await crux("up");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`✗ [INVALID] ${message}`);
    expect(await processes()).toEqual([]);
  });

  it("an unknown agent is NOT_FOUND, and nothing is started", async () => {
    file("services: { z: { command: [sleep, '300'] }, a: { agent: nobody, intent: x } }");
    const { code, stdout, stderr } = await crux("up");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^✗ \[NOT_FOUND\] services\.a\.agent: agent not found: nobody\. Agents here: .*writer/,
    );
    expect(await processes()).toEqual([]);
    expect(await sleepers(0)).toBe(0);
  });

  it("a project that does not run, a service that is not there, and no file", async () => {
    expect((await crux("ps")).stderr).toMatch(
      /^✗ \[NOT_FOUND\] no crux\.compose\.yaml or crux\.compose\.yml in /,
    );
    file(SAMPLE.replace("name: notes", "name: never"));
    for (const verb of ["ps", "down", "logs"])
      expect((await crux(verb)).stderr).toMatch(/^✗ \[NOT_FOUND\] .*never.*\n {2}→ hint: crux compose up/);
    expect((await crux("up", "nothing")).stderr).toMatch(/^✗ \[NOT_FOUND\] .*nothing/);
    expect(await processes()).toEqual([]);
  });
});

it("the client leaves the checking to the daemon, and YAML to the commands that read some", () => {
  const client = readFileSync(join(dirname(CRUX), "../dist/cli.cjs"), "utf8");
  expect(client).not.toContain("ZodType");
  expect(client).toContain('require("./yaml.cjs")');
});

it("a daemon starts without the HTTP client of Node, whose modules it seldom needs", () => {
  const dist = join(dirname(CRUX), "../dist");
  const files = new Map<string, string>();
  const load = (name: string): void => {
    if (files.has(name)) return;
    const code = readFileSync(join(dist, name), "utf8");
    files.set(name, code);
    // what is loaded when it is needed stands behind an arrow
    for (const [, next = ""] of code.matchAll(/(?<!=> )require\("\.\/([\w-]+\.cjs)"\)/g)) load(next);
  };
  load("daemon.cjs");
  load("boot.cjs");
  const statics = [...files.values()].join("\n");
  expect(statics).not.toMatch(/\brequire\("node:https?"\)/);
  expect(statics).toContain('import("node:https")');
});
