/** The sandbox from the agent's command to the model's next request: what a command may, what it is told, what is left. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { shellWord } from "../src/lib/shell-word.ts";
import { needsConfinement } from "./harness/confined.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import { settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { userTexts } from "./model-server/request.ts";
import { startModelServer } from "./model-server/server.ts";

needsConfinement();

const ALLOW = { permissions: { allow: ["bash"] } };

function ownFolder(): string {
  const dir = realpathSync(mkdtempSync("/var/tmp/crux-system-sandbox-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function worldWith(settings: object): World {
  const world = new World();
  onTestFinished(() => world.close());
  world.settings(settings);
  return world;
}

/** What the model is told of one command of its agent. */
async function told(world: World, script: string): Promise<string> {
  // in a file: what the text itself names, the policy judges before anything runs
  world.write("go.sh", script);
  return toldOf(world, ["bash go.sh"]);
}

async function toldOf(
  world: World,
  commands: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const uses = commands.map((command) => toolUse({ name: "bash", input: { command } }));
  const calls = inTurn(...uses, text("Done."));
  const server = await startModelServer({ script: calls });
  try {
    const run = await world.crux(["try it"], { env: { ...modelEnv(server), ...env } });
    expect([run.code, server.rejected]).toEqual([0, []]);
    return server.requests
      .flatMap(({ lastToolResults }) => lastToolResults)
      .map(({ content }) => content)
      .join("\n");
  } finally {
    await server.close();
  }
}

test("a permitted command writes in its folder and nowhere else, and the model reads why", async () => {
  const outside = join(ownFolder(), "canary");
  const world = worldWith(ALLOW);
  world.write(".env", "CANARY-SECRET");
  const result = await told(world, `echo in > in; echo out > ${outside}; cat .env; mkdir .crux/x`);
  expect(world.file("in")).toBe("in\n");
  expect(existsSync(outside)).toBe(false);
  expect(result).toContain("Read-only file system");
  expect(result).toContain("sandbox.allowWrite");
  expect(result).not.toContain("CANARY-SECRET");
  expect(readdirSync(world.work).sort()).toEqual([".env", "go.sh", "in"]);
});

test("a command sees neither the state of the daemon nor its socket, but its own", async () => {
  const world = worldWith(ALLOW);
  const state = join(world.dir, "state/crux");
  const result = await told(
    world,
    `ls -A ${state} ${world.socket}; [ -S "$CRUX_IPC_SOCKET" ] && echo own; echo x > $CRUX_SCRATCH/x && echo scratch`,
  );
  expect(result).not.toContain("journal");
  expect(result).toMatch(/crux\.sock.*No such file/);
  expect(result).toContain("own\nscratch");
});

// a Crux in the host's /tmp is shown in the sandbox's: then that is another for each command (docs/sandbox.md)
const isInTmp = realpathSync(process.execPath).startsWith("/tmp/");

test.skipIf(isInTmp)(
  "what a command leaves in /tmp the next one finds, and its scratch folder is the same",
  async () => {
    vi.stubEnv("TMPDIR", "/var/tmp");
    onTestFinished(() => void vi.unstubAllEnvs());
    const world = worldWith(ALLOW);
    world.write("leave.sh", 'echo one > /tmp/one; mktemp > name; echo two > "$(cat name)"');
    world.write("find.sh", 'cat "$CRUX_SCRATCH/one" "$(cat name)"; cd "$TMPDIR" && ls -A');
    const result = await toldOf(world, ["bash leave.sh", "bash find.sh"]);
    expect(result).toMatch(/one\ntwo\none\ntmp\.\w+\n/);
    const name = world.file("name").trim();
    expect([name.startsWith(world.dir), readFileSync(name, "utf8")]).toEqual([true, "two\n"]);
    expect(readdirSync(world.work).sort()).toEqual(["find.sh", "leave.sh", "name"]);
  },
);

test("agents of a session share a folder without a question, by commands and tools at one path, until it is full", async () => {
  const world = worldWith({ agents: { scratchpad: true } });
  // as for a user: not below /tmp, of which a command that only reads is shown more
  const state = realpathSync(mkdtempSync("/var/tmp/crux-state-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  world.env.XDG_STATE_HOME = state;
  let pad = "";
  const seen: string[] = [];
  const use = (name: string, input: object) => toolUse({ name, input });
  const plays = {
    lead: [
      () => use("bash", { command: `echo one > ${pad}/one` }),
      () => use("agent", { description: "reads", prompt: "child" }),
      () => use("bash", { command: `cat ${pad}/two ${pad}/one` }),
    ],
    child: [
      () => use("view", { file_path: `${pad}/one` }),
      () => use("write", { file_path: `${pad}/two`, content: "two" }),
      () => {
        symlinkSync("/etc", `${pad}/etc`);
        return use("view", { file_path: `${pad}/etc/passwd` });
      },
      () => {
        writeFileSync(`${pad}/big`, "");
        truncateSync(`${pad}/big`, 257 * 1024 ** 2);
        return use("write", { file_path: `${pad}/three`, content: "three" });
      },
    ],
  };
  const server = await startModelServer({
    script: ({ rawBody, messages, assistantTurns, lastToolResults }) => {
      pad = /Scratchpad: ([^;]+);/.exec(rawBody)?.[1] ?? "";
      seen.push(...lastToolResults.map(({ content }) => String(content)));
      const [task] = messages.flatMap((message) => (message.role === "user" ? userTexts(message) : []));
      return plays[task?.startsWith("lead") ? "lead" : "child"][assistantTurns]?.() ?? text("Done.");
    },
  });
  onTestFinished(() => server.close());
  expect(await world.crux(["-q", "lead"], { env: modelEnv(server) })).toMatchObject({ code: 0 });
  const told = seen.map(
    (result) => /^No such.*|denied$|^.*one$|two$|no links|may hold 256 MiB|Done/m.exec(result)?.[0],
  );
  // the first is of a command without output, the third of a write
  expect(told).toEqual([undefined, "one", undefined, "no links", "may hold 256 MiB", "Done", "twoone"]);
  expect(pad).toContain(join(state, "crux/scratchpads"));
  await settled(
    () => existsSync(pad),
    (isLeft) => !isLeft,
  );
});

test("a server that one command leaves running is reached by the next", async () => {
  const world = worldWith(ALLOW);
  const serve = 'require("net").createServer((s) => s.end("served\\n")).listen(8123, "127.0.0.1")';
  world.write("serve.sh", `exec ${shellWord(process.execPath)} -e '${serve}'`);
  world.write("ask.sh", "until exec 3<>/dev/tcp/127.0.0.1/8123; do sleep 0.05; done 2>/dev/null; cat <&3");
  const calls = inTurn(
    toolUse({ name: "bash", input: { command: "bash serve.sh", run_in_background: true } }),
    toolUse({ name: "bash", input: { command: "bash ask.sh", timeout: 20_000 } }),
    text("Done."),
  );
  const server = await startModelServer({ script: calls });
  onTestFinished(() => server.close());
  await world.crux(["try it"], { env: modelEnv(server) });
  const results = server.requests.flatMap(({ lastToolResults }) => lastToolResults);
  expect(results.map(({ content }) => content).join("\n")).toContain("served");
});

test("settings widen it: a folder to write, or nothing confined at all", async () => {
  const more = ownFolder();
  await told(
    worldWith({ ...ALLOW, sandbox: { allowWrite: [more] } }),
    `echo a > ${more}/a; echo x > ${more}/../crux-x`,
  );
  await told(
    worldWith({ ...ALLOW, sandbox: { mode: "off" } }),
    `grep Seccomp: /proc/self/status > ${more}/b`,
  );
  expect(readFileSync(join(more, "a"), "utf8")).toBe("a\n");
  expect(existsSync("/var/tmp/crux-x")).toBe(false);
  expect(readFileSync(join(more, "b"), "utf8")).toMatch(/Seccomp:\s*0/);
});

test("a call may not ask to run outside where no settings let it", async () => {
  const outside = join(ownFolder(), "canary");
  const world = worldWith(ALLOW);
  const calls = inTurn(
    toolUse({ name: "bash", input: { command: `touch ${outside}`, dangerouslyDisableSandbox: true } }),
    text("Done."),
  );
  const server = await startModelServer({ script: calls });
  onTestFinished(() => server.close());
  await world.crux(["try it"], { env: modelEnv(server) });
  const [result] = server.requests.flatMap(({ lastToolResults }) => lastToolResults);
  expect(result?.content).toMatch(/INVALID/);
  expect(existsSync(outside)).toBe(false);
});

test("a command that says what it writes elsewhere may, once that is permitted, and nothing beside it", async () => {
  const more = ownFolder();
  const world = worldWith(ALLOW);
  world.write("go.sh", "true");
  const result = await toldOf(world, [
    `mkdir -p ${more}/new && cp go.sh ${more}/new/copy`,
    `bash go.sh; echo here > ${more}/there`,
    "git init -q && git config --local --list",
  ]);
  expect(readdirSync(more)).toEqual(["new"]);
  expect(readdirSync(join(more, "new"))).toEqual(["copy"]);
  expect(result).toContain("core.repositoryformatversion=0");
  expect(result).toContain("Read-only file system");
});

test("what a sandbox refuses is kept with the history, and shown", async () => {
  const world = worldWith(ALLOW);
  await told(world, "touch /usr/crux-x");
  const { stdout } = await world.crux(["journal", "1"]);
  expect(stdout).toMatch(/sandbox\.violation +\[sandbox\] commands write only in/);
});

test("a name of the environment that a person gave to a program reaches it, and no other", async () => {
  const world = worldWith({ ...ALLOW, secrets: { passEnv: { printenv: ["MY_TOKEN"] } } });
  world.write("go.sh", "printenv MY_TOKEN");
  const result = await toldOf(world, ["printenv MY_TOKEN", "bash go.sh"], { MY_TOKEN: "given-to-printenv" });
  // it is kept from the model nevertheless
  expect(result.match(/given-to-printenv|\[redacted:/g)).toEqual(["[redacted:"]);
});

test("the status of the daemon says what confines commands", async () => {
  const world = worldWith({});
  await world.crux(["daemon", "start"]);
  expect((await world.crux(["daemon", "status", "-v"])).stdout).toMatch(
    / \| sandbox: (bubblewrap|namespaces)( \||\n)/,
  );
  const status = JSON.parse((await world.crux(["daemon", "status", "--json"])).stdout);
  expect(status.data.sandbox).toEqual({
    available: true,
    kind: expect.stringMatching(/^(bubblewrap|namespaces)$/),
    mode: "on",
  });
});
