/** Questions to a person, from outside: who may answer, what a restart makes of them, and that no child answers itself. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { shellWord } from "../src/lib/shell-word.ts";
import { unconfined } from "./harness/confined.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import { type Reply, Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;
beforeEach(async () => {
  world = new World();
  // these are about who may answer, and not about what a command can reach
  world.settings({ sandbox: { mode: "off" } });
  await world.crux(["ps"]);
});
afterEach(async () => {
  await world.close();
  await server.close();
});

const write = (file_path: string) => toolUse({ name: "write", input: { file_path, content: "mine\n" } });
const bash = (command: string) => toolUse({ name: "bash", input: { command, timeout: 20_000 } });

/** The stream of a process whose client can answer. */
async function begin(
  script: Parameters<typeof startModelServer>[0]["script"],
  more: object = {},
): Promise<Wire> {
  server = await startModelServer({ script });
  const wire = await Wire.open(world.socket);
  const env = { ...world.env, ...modelEnv(server) };
  const asked = { intent: "go", interactive: true, verbose: true, cwd: world.work, env, ...more };
  expect(await wire.ask("spawn", asked)).toMatchObject({ ok: true });
  return wire;
}

async function until(wire: Wire, event: string): Promise<Record<string, unknown>> {
  for (let line = await wire.next(); line !== undefined; line = await wire.next())
    if (line.payload?.event === event) return line.payload;
  throw new Error(`the stream ended without ${event}`);
}

async function answer(payload: object): Promise<Reply | undefined> {
  await using wire = await Wire.open(world.socket);
  return await wire.ask("ask.answer", payload);
}

it("three clients answer at once: one wins, two are CONFLICT, and what it was told is what happens", async () => {
  const wire = await begin(inTurn(write("a.txt"), text("Done.")));
  const ask = await until(wire, "ask");
  expect(ask).toMatchObject({
    tool: "write",
    path: expect.stringMatching(/-1$/),
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const { ask_id } = ask;
  const replies = await Promise.all([1, 2, 3].map(() => answer({ ask_id, answer: "yes" })));
  expect(replies.map((reply) => reply?.error?.code ?? "won").sort()).toEqual(["CONFLICT", "CONFLICT", "won"]);
  expect(await until(wire, "complete")).toMatchObject({ exit_code: 0 });
  expect(world.file("a.txt")).toBe("mine\n");
  await wire.close();
});

it("the daemon is killed while a question is open: the same id is asked again, and its answer counts", async () => {
  const wire = await begin(inTurn(write("b.txt"), text("Done.")));
  const { ask_id, pid } = await until(wire, "ask");
  process.kill(world.daemonPid!, "SIGKILL");
  await wire.rest();
  await settled(
    () => world.processes().length,
    (count) => count === 0,
  );
  await world.crux(["ps"]);
  expect(await answer({ ask_id, answer: "yes" })).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  const back = await Wire.open(world.socket);
  expect(await back.ask("process.attach", { pid, interactive: true })).toMatchObject({ ok: true });
  await using hand = await Wire.open(world.socket);
  const env = { ...world.env, ...modelEnv(server) };
  await hand.ask("process.resume", { pid, env });
  expect(await until(back, "ask")).toMatchObject({ ask_id });
  expect(existsSync(join(world.work, "b.txt"))).toBe(false);
  expect(await hand.ask("ask.answer", { ask_id, answer: "yes" })).toMatchObject({ ok: true });
  expect(await until(back, "complete")).toMatchObject({ exit_code: 0 });
  expect(world.file("b.txt")).toBe("mine\n");
  await back.close();
});

/** As a program that wants to be the person: it reads the cookie and answers. Its argument: by which socket. */
const IMPOSTOR = `
const net = require("node:net"), fs = require("node:fs"), path = require("node:path");
const [which] = process.argv.slice(2);
const { dir, ask } = PLACES;
const socketPath = which === "own" ? process.env.CRUX_IPC_SOCKET : path.join(dir, "crux.sock");
let cookie = "none";
try { cookie = fs.readFileSync(path.join(dir, "crux.cookie"), "utf8"); } catch {}
const socket = net.connect(socketPath);
const lines = [["auth", { cookie }], ["ask.answer", { ask_id: ask, answer: "yes" }], ["spawn", { intent: "x" }],
  ["session.say", { pid: 1, text: "x", client: "abc" }], ["shutdown", {}], ["list_procs", {}]];
for (const [method, payload] of lines) socket.write(JSON.stringify({ method, payload }) + "\\n");
let text = "";
socket.on("data", (chunk) => { text += chunk; if (text.split("\\n").length > lines.length) { console.log(text); socket.destroy(); } });
socket.on("close", () => {});
socket.on("error", (error) => console.log("error " + error.code));
`;

it("a child of an agent opens the sockets and answers for the person: PERMISSION, whatever it shows", async () => {
  const asking = await begin(inTurn(write("c.txt"), text("Done.")));
  const { ask_id } = await until(asking, "ask");
  const first = server;
  // a command that names the runtime directory is denied: it knows the place from elsewhere
  const places = JSON.stringify({ dir: dirname(world.socket), ask: ask_id });
  world.write("impostor.cjs", IMPOSTOR.replace("PLACES", places));
  const node = shellWord(process.execPath);
  const run = (socket: string) => bash(`${node} impostor.cjs ${socket}`);
  const detached = (socket: string) =>
    bash(
      `(env -i setsid ${node} impostor.cjs ${socket} > out.txt 2>&1 &); until grep -q '"processes"' out.txt; do sleep 0.05; done; cat out.txt`,
    );
  // what left its session and its environment behind is known by its namespace alone
  const tries = [run("main"), run("own"), ...(unconfined === undefined ? [detached("main")] : [])];
  server = await startModelServer({ script: inTurn(...tries, text("Done.")) });
  const child = await world.crux(["-q", "--permission-mode", "bypass", "try"], { env: modelEnv(server) });
  expect([child.code, child.stderr]).toEqual([0, ""]);
  const results = server.requests
    .flatMap(({ lastToolResults }) => lastToolResults)
    .map(({ content }) => String(content));
  expect(results).toHaveLength(tries.length);
  for (const result of results) {
    const replies = result
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    expect(replies.map(({ ok, error }) => (ok ? "ok" : error.code)).slice(1)).toEqual([
      ...["PERMISSION", "PERMISSION", "PERMISSION", "PERMISSION"],
      "ok",
    ]);
    // of all processes it sees its own
    expect(replies[5].payload.processes.map(({ pid }: { pid: number }) => pid)).toEqual([2]);
  }
  await server.close();
  server = first;
  expect(existsSync(join(world.work, "c.txt"))).toBe(false);
  expect(await answer({ ask_id, answer: "no", words: "not that file" })).toMatchObject({ ok: true });
  expect(await until(asking, "complete")).toMatchObject({ exit_code: 0 });
  expect(JSON.stringify(server.requests.at(-1)?.lastToolResults)).toContain("not that file");
  await asking.close();
});

it("a person without the cookie may look, and not answer; each daemon has a cookie of its own", async () => {
  server = await startModelServer({ script: () => text("Yes.") });
  const cookie = () => readFileSync(join(dirname(world.socket), "crux.cookie"), "utf8");
  const old = cookie();
  await using wire = await Wire.open(world.socket);
  expect(await wire.askUnproven("list_procs", {})).toMatchObject({ ok: true });
  expect(await wire.askUnproven("shutdown", {})).toMatchObject({ ok: false, error: { code: "PERMISSION" } });
  await world.crux(["daemon", "restart"]);
  expect(cookie()).not.toBe(old);
  await using next = await Wire.open(world.socket);
  expect(await next.askUnproven("auth", { cookie: old })).toMatchObject({ error: { code: "PERMISSION" } });
  expect(await next.askUnproven("auth", { cookie: cookie() })).toMatchObject({
    payload: { principal: "user" },
  });
});
