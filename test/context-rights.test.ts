/**
 * What a process may do and spend are facts of the process, not of its messages: whatever shortens its view, undoes that, or
 * ends the daemon between two messages, loses and widens none of it. Compared is what the user is shown of it, and what the
 * process is then really permitted.
 */
import { expect, test } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelServerOptions } from "./model-server/server.ts";

onStage();

const SUMMARY = "## Goal: read the files\n## Now: they were read";
const FILES = 30;

/** What the model answers with next; then it is done. `summary`: what it writes when it is asked for one. */
let replies: Reply[] = [];
let summary = SUMMARY;

const data = async <T>(...words: string[]): Promise<T> => {
  const run = await world.crux([...words, "--json"]);
  const { data: found, error } = JSON.parse(run.stdout || run.stderr) as { data?: T; error?: unknown };
  if (found === undefined) throw new Error(`${words.join(" ")}: ${JSON.stringify(error)}`);
  return found;
};

interface Account {
  readonly limits: { readonly tokens: number };
  readonly spent: { readonly tokens: number };
  readonly left: { readonly tokens: number };
}

/** What it may do, and what it has spent, which each request changes. */
async function standing() {
  const wire = await Wire.open(world.socket);
  const ask = async <T>(method: string, more: object = {}): Promise<T> => {
    const reply = await wire.ask(method, { pid: 1, ...more });
    expect(reply, method).toMatchObject({ ok: true });
    return reply?.payload as T;
  };
  const permits = await ask("process.mode");
  const grants = await ask("grant.list");
  const labels = await ask("label.list");
  const { accounts } = await ask<{ accounts: Account[] }>("budget.get");
  const { lines } = await ask<{ lines: { tokens: number }[] }>("cost.get", { by: "call" });
  wire.socket.destroy();
  const { limits, spent, left } = accounts[0]!;
  // nothing that was spent is forgotten, nor given back
  expect(spent.tokens).toBe(lines.reduce((sum, { tokens }) => sum + tokens, 0));
  expect(left.tokens).toBe(limits.tokens - spent.tokens);
  return { fixed: { permits, grants, limits, labels }, spent };
}

let tries = 0;
const PERMITTED = [true, true, false, false];

/** What becomes of an edit that the mode lets pass, and of commands that a grant allows, that one denies, and that nobody permits. */
async function tried(): Promise<boolean[]> {
  const path = `${world.work}/new-${++tries}.txt`;
  const command = (name: string) => toolUse({ name: "bash", input: { command: `sh ${name}.sh` } });
  replies = [
    toolUse({ name: "write", input: { file_path: path, content: "new\n" } })
      .and(command("granted"))
      .and(command("denied"))
      .and(command("other")),
  ];
  expect((await world.crux(["-c", "-q", "try it"])).code).toBe(0);
  const results = server.requests.at(-1)?.lastToolResults ?? [];
  return results.map(({ content }) => !/PERMISSION|Permission denied/.test(content));
}

/** A session in a mode that it was not started in, with grants and limits. `refusing`: what its model refuses. */
async function session(
  settings: object,
  env: Record<string, string> = {},
  refusing: Partial<ModelServerOptions> = {},
): Promise<void> {
  world.settings({ sandbox: { mode: "off" }, ...settings });
  for (let n = 0; n < FILES; n++) world.write(`part-${n}.txt`, `part ${n} of many, with words\n`.repeat(160));
  for (const name of ["granted", "denied", "other"]) world.write(`${name}.sh`, `echo ${name}\n`);
  [replies, summary, tries] = [[], SUMMARY, 0];
  await startModel({
    ...refusing,
    script: ({ messages }) => {
      const asked = JSON.stringify(messages.at(-1));
      if (asked.includes("<steps>")) return text("Read.");
      if (asked.includes("is kept as notes for that moment")) return text(SUMMARY);
      if (asked.includes("outgrow your context window")) return text(summary);
      return replies.shift() ?? text("Done.");
    },
  });
  Object.assign(world.env, modelEnv(server), env);
  expect((await world.crux(["chat", "-q"], { stdin: "Never push to main." })).code).toBe(0);
  const wire = await Wire.open(world.socket);
  const rules = { allow: ["bash(sh granted.sh)", "bash(sh denied.sh)"], deny: ["bash(sh denied.sh)"] };
  expect(await wire.ask("grant.add", { pid: 1, ...rules })).toMatchObject({ ok: true });
  wire.socket.destroy();
  await data("mode", "1", "accept_edits");
  await data("budget", "set", "1", "--tokens", "9000000", "--steps", "900");
}

/** `said`: with each call, which nothing but a summary takes out of view again. */
async function read(count: number, said = ""): Promise<void> {
  replies = Array.from({ length: count }, (_, n) =>
    toolUse(
      { name: "view", input: { file_path: `${world.work}/part-${n % FILES}.txt` } },
      ...(said === "" ? [] : [{ text: said }]),
    ),
  );
  expect((await world.crux(["-c", "-q", "Read them."])).code).toBe(0);
}

const layers = async () =>
  (await data<{ moves: { layer: string; trigger: string }[] }>("context", "1")).moves.map(
    ({ layer, trigger }) => `${layer} ${trigger}`,
  );

/** Its records, as lines. */
const history = async () => (await world.crux(["journal", "1", "--json"])).stdout.trimEnd().split("\n");

async function restarted(): Promise<void> {
  process.kill(world.daemonPid!, "SIGKILL");
  expect((await world.crux(["daemon", "start"])).code).toBe(0);
}

/** Each of these, alone, leaves what it may do and spend as it was; `costs`: a model is asked for it. */
async function keeps(name: string, act: () => Promise<unknown>, costs = false): Promise<void> {
  const before = await standing();
  await act();
  const after = await standing();
  expect(after.fixed, name).toEqual(before.fixed);
  if (costs) expect(after.spent.tokens, name).toBeGreaterThan(before.spent.tokens);
  else expect(after.spent, name).toEqual(before.spent);
}

test("what the user has done to a view changes nothing of what its process may do and spend, nor of its history", async () => {
  await session({});
  await read(12);
  const records = await history();
  expect(await tried()).toEqual(PERMITTED);
  expect((await standing()).fixed).toMatchObject({
    permits: { mode: "accept_edits" },
    limits: { tokens: 9_000_000, steps: 900 },
  });
  await keeps("partial", () => data("compact", "1", "--from", "9"), true);
  await keeps("undo of partial", () => data("context", "undo", "1"));
  await keeps("snip", () => data("context", "snip", "1", "5"));
  await keeps("undo of snip", () => data("context", "undo", "1"));
  await keeps("full", () => data("compact", "1", "keep", "the", "paths"), true);
  await keeps("a restart", restarted);
  expect(await tried()).toEqual(PERMITTED);
  await keeps("undo of full", () => data("context", "undo", "1"));
  await keeps("clear", () => data("context", "clear", "1"));
  await keeps("undo of clear", () => data("context", "undo", "1"));
  expect(await tried()).toEqual(PERMITTED);
  expect((await history()).slice(0, records.length)).toEqual(records);
  const seen = ["partial", "undo", "snip", "undo", "full", "undo", "clear", "undo"];
  expect(await layers()).toEqual(seen.map((layer) => `${layer} manual`));
  expect((await world.crux(["replay", "1"])).code).toBe(0);
});

test.each([
  ["full auto", {}],
  ["drop auto", {}],
  ["collapse auto", { context: { collapse: true } }],
  ["notes auto", { compaction: { sessionNotes: true } }],
  // the window is learnt from the refusal of a model that nobody has told anything of
  ["full reactive", {}],
])(
  "%s changes nothing of what its process may do and spend, also after its daemon died",
  async (layer, settings) => {
    const isKnown = layer !== "full reactive";
    if (isKnown) await session(settings, { CRUX_MAX_CONTEXT_TOKENS: "40000" });
    else await session(settings, {}, { contextWindowTokens: 32_000 });
    if (layer === "drop auto") summary = "";
    expect(await tried()).toEqual(PERMITTED);
    await keeps(
      layer,
      async () => {
        for (let n = 0; n < 4 && !(await layers()).includes(layer); n++)
          await read(20, "On it goes. ".repeat(150));
        const seen = await layers();
        expect(seen).toContain(layer);
        // the first to be tried, wherever results can be cleared
        if (isKnown && layer !== "collapse auto") expect(seen[0]).toBe("micro auto");
      },
      true,
    );
    expect(await tried()).toEqual(PERMITTED);
    await keeps("a restart", restarted);
    expect(await tried()).toEqual(PERMITTED);
    await keeps("undo", async () => {
      const undone = await world.crux(["context", "undo", "1"]);
      // one that would not fit is refused, and that changes as little
      expect(undone.code === 0 || undone.stderr.includes("CONFLICT"), undone.stderr).toBe(true);
    });
    expect(await tried()).toEqual(PERMITTED);
  },
);
