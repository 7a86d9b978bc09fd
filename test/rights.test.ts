/** What an agent may not do, it does not do: seen from outside, on real files, in the widest mode there is. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { PROTOCOL } from "../src/abi/wire.ts";
import { shellWord } from "../src/lib/shell-word.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { settled, World } from "./harness/world.ts";
import type { ToolResult } from "./model-server/content.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

beforeTries(
  async () => {
    world = new World();
    put(
      "config/crux/agents/reader/agent.yaml",
      "name: reader\ndescription: reads\nskills: [reading]\npreload: true\n",
    );
    put("config/crux/agents/reader/instructions.md", "You read.\n");
    put(
      "config/crux/skills/reading/SKILL.md",
      "---\nname: reading\nallowed-tools: /dev/fs\n---\nRead with view.\n",
    );
    await world.crux(["ps"]);
  },
  () => world.close(),
);
afterEach(() => server.close());

function put(name: string, content: string): string {
  const path = join(world.dir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** In the work folder, in place of the one that an earlier try has left there. */
function link(target: string, name: string): void {
  const path = join(world.work, name);
  rmSync(path, { force: true });
  symlinkSync(target, path);
}

const serve = async (script: ModelServerOptions["script"]) => {
  server = await startModelServer({ script });
};
const view = (file_path: string) => ({ name: "view", input: { file_path } });
const write = (file_path: string, content = "mine now\n") => ({
  name: "write",
  input: { file_path, content },
});
const bash = (command: string) => ({ name: "bash", input: { command } });

/** Opens 1,000 at once by its own socket and by the user's, twice, holds what it gets, and counts answers and refusals. */
const FLOOD = `
const net = require("node:net");
const fs = require("node:fs");
let [opened, answered] = [0, 0];
const refused = new Set();
const open = (path) => new Promise((resolve) => {
  opened++;
  const socket = net.connect(path, () => socket.write('{"method":"ping"}\\n'));
  socket.on("error", resolve);
  socket.on("close", resolve);
  socket.on("data", (line) => {
    const { ok, error } = JSON.parse(line);
    if (ok) answered++;
    else refused.add(error.message);
    resolve();
  });
});
(async () => {
  for (let round = 0; round < 2; round++)
    await Promise.all(Array.from({ length: 1000 }, (_, n) => open(n % 2 ? process.env.CRUX_IPC_SOCKET   : MAIN)));
  fs.writeFileSync("flooded", "");
  while (!fs.existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
  console.log(JSON.stringify({ opened, answered, refused: [...refused] }));
  process.exit();
})();
`;

const REFUSED: unknown = expect.stringMatching(/^Error \[PERMISSION\]: /);

/** A run that is denied every call of three replies in a row, and has nobody to ask, is ended. */
const CALLS_OF_A_RUN = 2;

/** Tries the calls, one a turn, in bypass, in as many runs as it takes; what each of them gave. */
async function attempt(
  calls: readonly { name: string; input: object }[],
  ...args: string[]
): Promise<ToolResult[]> {
  const results: ToolResult[] = [];
  for (let at = 0; at < calls.length; at += CALLS_OF_A_RUN) {
    if (at > 0) await server.close();
    results.push(...(await attemptSome(calls.slice(at, at + CALLS_OF_A_RUN), ...args)));
  }
  return results;
}

async function attemptSome(
  calls: readonly { name: string; input: object }[],
  ...args: string[]
): Promise<ToolResult[]> {
  await serve(inTurn(...calls.map((call) => toolUse(call)), text("Done.")));
  const run = await world.crux(["--permission-mode", "bypass", ...args, "try it"], { env: modelEnv(server) });
  expect([run.code, server.rejected]).toEqual([0, []]);
  const results = server.requests.flatMap(({ lastToolResults }) => lastToolResults);
  expect(results).toHaveLength(calls.length);
  return results;
}

describe("an agent whose skill names /dev/fs", () => {
  it("may view and is refused a shell, whatever the mode; nothing was run", async () => {
    world.write("a.txt", "content\n");
    const [seen, refused, after] = await attemptSome(
      [view("a.txt"), bash("touch escaped.txt"), view("a.txt")],
      "--agent",
      "reader",
    );
    expect(seen!.content).toBe("content\n");
    expect(refused!.content).toMatch(/^Error \[PERMISSION\]: .*\/dev\/shell/);
    expect(after!.content).toContain("a.txt");
    expect(existsSync(join(world.work, "escaped.txt"))).toBe(false);
    expect(server.requests[0]!.system).toContain("Read with view.");
  });

  it("shows the refusal to astrace", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(
      inTurn(toolUse(bash("touch escaped.txt")).until(gate.promise), toolUse(view("a.txt")), text("Done.")),
    );
    world.write("a.txt", "content\n");
    const args = ["--permission-mode", "bypass", "--agent", "reader", "try it"];
    const run = world.start(args, { env: modelEnv(server) });
    await run.seen("reasoning step 1...");
    const [pid] = (await world.crux(["ps", "-q"])).stdout.trim().split("\n").slice(-1);
    const trace = world.start(["astrace", pid!]);
    await trace.seen("attached to");
    gate.resolve();
    expect((await run.done).code).toBe(0);
    const lines = (await trace.done).stdout.split("\n");
    const refused = lines.filter((line) => line.includes(" → [PERMISSION] "));
    expect(refused).not.toEqual([]);
    for (const line of refused)
      expect(line).toMatch(/^\[ {0,6}\d+\.\d{3}s\] (?:Open|Write)\(.*\) → \[PERMISSION\] \S.* {4}\d/);
    expect(lines.some((line) => line.includes(`path="/dev/fs${world.work}/a.txt") → `))).toBe(true);
    expect(existsSync(join(world.work, "escaped.txt"))).toBe(false);
  });
});

describe("in bypass", () => {
  it("the files of crux itself stay closed: state, journal, socket, log", async () => {
    const state = join(world.dir, "state/crux");
    const journal = readdirSync(join(state, "journal")).map((name) => join(state, "journal", name));
    expect(journal).not.toEqual([]);
    link(state, "link");
    const reads = [join(state, "daemon.log"), "link/daemon.log", "../state/crux/daemon.log", ...journal];
    const results = await attempt([
      ...reads.map(view),
      write(join(state, "journal/new.db")),
      write(join(world.dir, "run/crux/crux.pid")),
      bash(`cat ${state}/daemon.log`),
      bash("cat link/daemon.log"),
      bash(`rm -rf ${state}`),
    ]);
    expect(results.map(({ content }) => content)).toEqual(results.map(() => REFUSED));
    expect(world.log()).toContain("running (PID");
    expect(existsSync(join(state, "journal/new.db"))).toBe(false);
    expect(world.daemonPid).toBeGreaterThan(0);
  });

  it("what starts programs or gives rights is not written without a person", async () => {
    world.write(".git/config", "[core]\n");
    world.settings({});
    const settings = join(world.dir, "config/crux/settings.json");
    const before = readFileSync(settings, "utf8");
    const places = [
      ".git/hooks/pre-commit",
      ".envrc",
      join(world.home, ".bashrc"),
      join(world.home, ".ssh/authorized_keys"),
    ];
    const [seen, ...results] = await attempt([
      view(".git/config"),
      write(".git/config"),
      ...places.map((place) => write(place)),
      bash("echo evil >> .git/config"),
      bash("cp /etc/hostname ~/.bashrc"),
    ]);
    expect(seen!.content).toBe("[core]\n");
    await server.close();
    results.push(...(await attemptSome([view(settings), write(settings)])).slice(1));
    expect(results.map(({ content }) => content)).toEqual(results.map(() => REFUSED));
    expect([world.file(".git/config"), readFileSync(settings, "utf8")]).toEqual(["[core]\n", before]);
    for (const place of places) expect(existsSync(join(world.work, place))).toBe(false);
    expect(existsSync(join(world.home, ".bashrc"))).toBe(false);
  });

  it("secrets are not read without a person, and their neighbours are", async () => {
    put("home/.ssh/id_rsa", "PRIVATE KEY\n");
    put("home/.aws/credentials", "aws_secret\n");
    world.write(".env", "TOKEN=abc\n");
    world.write(".env.example", "TOKEN=\n");
    world.write("server.key", "PRIVATE KEY\n");
    const key = join(world.home, ".ssh/id_rsa");
    link(key, "innocent.txt");
    const results = await attempt([
      view(key),
      view("innocent.txt"),
      view(join(world.home, ".aws/credentials")),
      view(".env"),
      view("server.key"),
      bash("cat ~/.ssh/id_rsa"),
      bash("cat .env"),
    ]);
    expect(results.map(({ content }) => content)).toEqual(results.map(() => REFUSED));
    const [example] = await attempt([view(".env.example")]);
    expect(example!.content).toBe("TOKEN=\n");
  });

  it("a search shows no line of a secret file that it was not asked for by name", async () => {
    world.write(".env", "TOKEN=needle-1\n");
    world.write("a.txt", "needle-2\n");
    const grep = (input: object) => ({
      name: "grep",
      input: { pattern: "needle", ...input },
    });
    const [found, included, named] = await attempt([
      grep({ context: 0, no_ignore: true }),
      grep({ include: ".env", mode: "count" }),
      grep({ path: ".env" }),
    ]);
    expect(found!.content).toBe("a.txt:1:needle-2");
    expect(included!.content).toBe("No matches found");
    expect(named!.content).toEqual(REFUSED);
  });

  it("what another process has kept of its outputs is not there to be read", async () => {
    const more = Promise.withResolvers<void>();
    const script = inTurn(
      toolUse(bash("seq 1 60000")),
      toolUse(bash("true")).until(more.promise),
      text("Done."),
    );
    const other = await startModelServer({ script });
    const run = world.start(["--permission-mode", "bypass", "count them"], { env: modelEnv(other) });
    await run.seen("reasoning step 2...");
    const outputs = join(world.dir, "state/crux/outputs");
    const [uuid = ""] = readdirSync(outputs);
    const [kept = ""] = readdirSync(join(outputs, uuid));
    const path = join(outputs, uuid, kept);
    const results = await attempt([
      { name: "ls", input: { path: outputs } },
      { name: "grep", input: { pattern: "7", path } },
      bash(`tail -n 1 ${path}`),
    ]);
    more.resolve();
    expect((await run.done).code).toBe(0);
    await other.close();
    expect(kept).toMatch(/^c_/);
    expect(results.map(({ content }) => content)).toEqual(results.map(() => REFUSED));
  });

  it("a program that opens 1,000 connections, twice, shuts nobody out but itself", async () => {
    // a command that names the socket is denied: it knows the place from elsewhere
    for (const left of ["flooded", "go"]) rmSync(join(world.work, left), { force: true });
    world.write("flood.cjs", FLOOD.replace("MAIN", JSON.stringify(world.socket)));
    await serve(inTurn(toolUse(bash(`${shellWord(process.execPath)} flood.cjs`)), text("Done.")));
    const run = world.start(["--permission-mode", "bypass", "try it"], { env: modelEnv(server) });
    expect(await settled(() => existsSync(join(world.work, "flooded")), Boolean)).toBe(true);
    const own = await Promise.all(Array.from({ length: 8 }, () => world.crux(["ps", "-q"])));
    const status = await world.crux(["daemon", "status"]);
    world.write("go", "");
    expect((await run.done).code).toBe(0);
    for (const { code, stdout, stderr } of own)
      expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^\d+\n$/), ""]);
    expect(status.stdout).toMatch(/ connections: (?:1[0-9]|20) /);
    const { answered, refused, opened } = JSON.parse(String(server.requests[1]!.lastToolResults[0]!.content));
    expect([opened, answered]).toEqual([2_000, PROTOCOL.maxConnectionsOfProcess]);
    expect(refused).toEqual([
      `too many connections of the programs of this process (${PROTOCOL.maxConnectionsOfProcess})`,
    ]);
  });

  it("what the shipped rules deny stays denied, and says what to take instead", async () => {
    const [sudo, less] = await attempt([bash("sudo id"), bash("less a.txt")]);
    expect(sudo!.content).toMatch(/^Error \[PERMISSION\]: .*'sudo' is not allowed/);
    expect(less!.content).toContain("Use the view tool");
  });
});

describe("in the default mode without a person", () => {
  it("reads in the folder, and neither writes nor runs anything", async () => {
    world.write("a.txt", "content\n");
    await serve(
      inTurn(
        toolUse([view("a.txt"), write("b.txt"), bash("touch c.txt"), view("/etc/passwd")]),
        text("Done."),
      ),
    );
    expect((await world.crux(["try it"], { env: modelEnv(server) })).code).toBe(0);
    const [seen, ...refused] = server.requests[1]!.lastToolResults.map(({ content }) => content);
    expect(seen).toBe("content\n");
    expect(refused).toHaveLength(3);
    for (const content of refused) expect(content).toMatch(/^Error \[PERMISSION\]: Permission denied: /);
    expect([existsSync(join(world.work, "b.txt")), existsSync(join(world.work, "c.txt"))]).toEqual([
      false,
      false,
    ]);
  });
});

it("settings that break while the daemon runs lose no deny: everything asks until they are mended", async () => {
  const own = new World();
  try {
    own.write("secret.txt", "hidden\n");
    own.settings({ permissions: { deny: ["view(secret.txt)"] } });
    await serve(inTurn(toolUse([view("secret.txt")]), text("Done.")));
    await own.crux(["try it"], { env: modelEnv(server) });
    writeFileSync(join(own.dir, "config/crux/settings.json"), '{"permissions": {"deny": ["vi');
    process.kill(own.daemonPid ?? 0, "SIGHUP");
    await settled(() => own.log().includes("settings read again"), Boolean);
    await own.crux(["try it again"], { env: modelEnv(server) });
    const results = server.requests.flatMap(({ lastToolResults }) =>
      lastToolResults.map(({ content }) => content),
    );
    expect(results).toHaveLength(2);
    for (const content of results) expect(content).toMatch(/^Error \[PERMISSION\]/);
  } finally {
    await own.close();
  }
});
