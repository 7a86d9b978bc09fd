/** What the model sees of a process, shown and steered by the user. */
import { describe, expect, test } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";

onStage();

const stat = async (pid: number) => {
  const { stdout } = await world.crux(["context", `${pid}`, "--json"]);
  return (JSON.parse(stdout) as { data: Record<string, unknown> & { parts: Record<string, number> } }).data;
};

const sum = (parts: Readonly<Record<string, number>>) => Object.values(parts).reduce((a, b) => a + b, 0);

describe("crux context", () => {
  test("shows a process that has ended, also after its daemon died, with what each part costs", async () => {
    world.write("big.txt", "a line of words\n".repeat(800));
    world.write("AGENTS.md", "Say please.");
    await startModel({
      script: ({ messages }) =>
        messages.length > 2
          ? text("Read.")
          : toolUse({ name: "view", input: { file_path: `${world.work}/big.txt` } }),
    });
    Object.assign(world.env, modelEnv(server));
    await world.crux(["trust"]);
    expect((await world.crux(["run", "Read it."])).code).toBe(0);
    const told = await stat(1);
    expect(told).toMatchObject({
      exact: true,
      level: "ok",
      breaker: null,
      boundaries: 0,
      shown: 4,
      records: 4,
    });
    expect(told.used).toBe(sum(told.parts));
    expect(
      Object.entries(told.parts)
        .filter(([, n]) => n > 0)
        .map(([name]) => name),
    ).toEqual(expect.arrayContaining(["system", "tools", "instructions", "messages", "results"]));
    process.kill(world.daemonPid!, "SIGKILL");
    expect(await stat(1)).toEqual(told);
    const { stdout } = await world.crux(["context", "1"]);
    expect(stdout).toMatch(/instruction files +\d+/);
    expect((await world.crux(["context", "99"])).stderr).toContain("process not found: 99");
  });
});

const isSummary = ({ lastUserText }: ModelRequest) => lastUserText.includes("outgrow your context window");
const SUMMARY = "## Goal: read the file\n## Now: it was read";

/** A session that has read a long file three times, with all of it in view. */
async function reader(): Promise<void> {
  world.write("big.txt", "a line of words\n".repeat(1_500));
  let calls = 0;
  await startModel({
    script: (request) => {
      if (isSummary(request)) return text(SUMMARY);
      if (calls++ % 4 < 3) return toolUse({ name: "view", input: { file_path: `${world.work}/big.txt` } });
      return text("Read.");
    },
  });
  Object.assign(world.env, modelEnv(server));
}

const said = () => server.requests.at(-1)?.rawBody.toString() ?? "";
const json = <T>({ stdout }: { stdout: string }): T => (JSON.parse(stdout) as { data: T }).data;

describe("a session that waits", () => {
  test("is compacted, undone and cleared, also after its daemon died; the next message is of that view", async () => {
    await reader();
    // the user's, since the folder of a test is no longer trusted after its daemon
    world.write("../config/crux/AGENTS.md", "Say please.");
    expect((await world.crux(["chat", "-q"], { stdin: "Read it. Never push to main." })).code).toBe(0);
    const whole = await stat(1);
    const compacted = await world.crux(["compact", "1", "keep", "the", "paths"]);
    expect(compacted.stdout).toMatch(/^Process 1: ~[\d,]+ tokens before, ~[\d,]+ now\. crux context undo 1/);
    expect(said()).toContain("pay attention to: keep the paths");
    process.kill(world.daemonPid!, "SIGKILL");
    const short = await stat(1);
    expect(short).toMatchObject({ boundaries: 1, can_undo: true, exact: false });
    expect(short.used).toBeLessThan(Number(whole.used) / 2);
    expect(short.used).toBe(sum(short.parts));
    expect((await world.crux(["-c", "-q", "and now?"])).code).toBe(0);
    expect(said()).toContain("it was read");
    expect(said()).toContain("Never push to main");
    expect(said().split("Say please.")).toHaveLength(2);

    const undone = await world.crux(["context", "undo", "1", "--json"]);
    expect(json<{ after: number }>(undone).after).toBeGreaterThan(Number(short.used));
    process.kill(world.daemonPid!, "SIGKILL");
    expect((await world.crux(["-c", "-q", "and then?"])).code).toBe(0);
    expect(said()).not.toContain("it was read");
    expect(said()).toContain("and now?");
    const again = await world.crux(["context", "undo", "1"]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing to undo") });

    expect((await world.crux(["context", "clear", "1"])).code).toBe(0);
    expect((await world.crux(["-c", "-q", "who are you?"])).code).toBe(0);
    expect(said()).not.toContain("and then?");
    expect(said().split("Say please.")).toHaveLength(2);
    expect(await stat(1)).toMatchObject({
      moves: [{ layer: "full" }, { layer: "undo" }, { layer: "clear" }],
    });
    expect((await world.crux(["replay", "1"])).code).toBe(0);
  });

  test("keeps what the user pinned, by number or as a text, whatever is compacted, and shows it apart", async () => {
    await reader();
    await world.crux(["chat", "-q"], { stdin: "Read it." });
    const listed = await world.crux(["context", "1", "--messages", "--json"]);
    const { messages } = json<{ messages: { n: number; part: string }[] }>(listed);
    expect(messages.map(({ part }) => part).slice(0, 3)).toEqual(["messages", "messages", "results"]);
    const pinned = await world.crux(["context", "pin", "1", "never", "push", "to", "main"]);
    expect(pinned.stdout).toContain("is pinned");
    expect((await world.crux(["context", "pin", "1", "3"])).code).toBe(0);
    const pins = JSON.parse((await world.crux(["cat", "/proc/1/context/pins"])).stdout) as number[];
    expect([pins.length, pins.includes(3)]).toEqual([2, true]);
    const seen = JSON.parse((await world.crux(["cat", "/proc/1/context/stat"])).stdout) as object;
    expect([seen, "messages" in seen]).toEqual([expect.objectContaining({ compact: true }), false]);
    expect((await world.crux(["context", "pin", "1", "語".repeat(12_000), "-q"])).stderr).toContain("tokens");
    process.kill(world.daemonPid!, "SIGKILL");
    expect((await world.crux(["compact", "1"])).code).toBe(0);
    expect((await stat(1)).parts.pins).toBeGreaterThan(1_000);
    await world.crux(["-c", "-q", "and now?"]);
    expect(said()).toContain("never push to main");
    expect(said().match(/a line of words/g)?.length).toBeGreaterThan(1_000);
    expect((await world.crux(["context", "clear", "1"])).code).toBe(0);
    expect(await stat(1)).toMatchObject({ shown: 4, parts: { messages: expect.any(Number) } });
    expect((await world.crux(["context", "unpin", "1", "3"])).code).toBe(0);
    expect((await world.crux(["context", "unpin", "1", "3"])).stderr).toContain("is not pinned");
    expect((await world.crux(["replay", "1"])).code).toBe(0);
  });

  test("is compacted before or after one of its messages: the other side stays byte for byte", async () => {
    await reader();
    expect((await world.crux(["chat", "-q"], { stdin: "Read it. Never push to main." })).code).toBe(0);
    const messages = () =>
      JSON.parse(said()).messages.map((each: unknown) => JSON.stringify(each)) as string[];
    const whole = messages();
    const late = await world.crux(["compact", "1", "--from", "3", "the", "paths", "--json"]);
    const change = json<{ before: number; after: number }>(late);
    expect(change.after).toBeLessThan(change.before);
    expect(said()).toContain("Summarise only what came after");
    process.kill(world.daemonPid!, "SIGKILL");
    expect((await world.crux(["-c", "-q", "and now?"])).code).toBe(0);
    const shorter = messages();
    // the system prompt, and messages 1 to 3
    expect(shorter.slice(0, 4).join() === whole.slice(0, 4).join()).toBe(true);
    expect(shorter.join().includes("it was read")).toBe(true);
    expect(shorter.join().includes(whole[5]!)).toBe(false);
    expect((await world.crux(["compact", "1", "--up-to", "99"])).stderr).toContain(
      "message 99 is not in view",
    );
    expect((await world.crux(["context", "undo", "1"])).code).toBe(0);
    const out = json<{ before: number; after: number }>(
      await world.crux(["context", "snip", "1", "3", "5", "--json"]),
    );
    expect(out.after).toBeLessThan(out.before - 4_000);
    expect((await world.crux(["context", "snip", "1", "1"])).stderr).toContain(
      "message 1 has words of the user",
    );
    expect((await world.crux(["context", "undo", "1"])).code).toBe(0);
    const early = await world.crux(["compact", "1", "--up-to", "6", "--json"]);
    expect(json<{ after: number; before: number }>(early).after).toBeGreaterThan(1_000);
    expect(await stat(1)).toMatchObject({
      moves: ["partial", "undo", "snip", "undo", "partial"].map((layer) => ({ layer, trigger: "manual" })),
    });
    expect((await world.crux(["-c", "-q", "and then?"])).code).toBe(0);
    const later = messages().join();
    expect(later.includes("it was read")).toBe(true);
    for (const each of whole.slice(6)) expect(later.includes(each)).toBe(true);
    for (const each of whole.slice(2, 6)) expect(later.includes(each)).toBe(false);
    expect((await world.crux(["replay", "1"])).code).toBe(0);
  });

  test("is not compacted when nothing would be freed, and an ended one says what it is", async () => {
    await startModel({ script: () => text("Hello.") });
    Object.assign(world.env, modelEnv(server));
    await world.crux(["chat", "-q"], { stdin: "hello" });
    const refused = await world.crux(["compact", "1"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing would be freed") });
    expect(server.requests.length).toBe(1);
    await world.crux(["kill", "1"]);
    await world.crux(["wait", "1"]);
    expect((await world.crux(["compact", "1"])).stderr).toContain("has ended");
    expect((await world.crux(["compact", "9"])).stderr).toContain("process not found: 9");
  });
});

test("a process that runs is compacted between two steps, and goes on from the summary", async () => {
  world.write("big.txt", "a line of words\n".repeat(1_500));
  let [turn, after, listed] = [0, 0, ""];
  const viewed = () => Number(/^(\d+) {2}result of view {2}\d{4}/m.exec(listed)?.[1]);
  const view = () => toolUse({ name: "view", input: { file_path: `${world.work}/big.txt` } });
  const own = (tool: string, params: object) => toolUse({ name: "tool_call", input: { tool, params } });
  const afterwards = [
    ...["rm -r big.txt", "ls big.txt", "rm -r big.txt"].map((command) =>
      toolUse({ name: "bash", input: { command } }),
    ),
    view(),
    own("pin", { text: "the file has words only" }),
    own("context", { op: "list" }),
    () => own("snip", { ids: [viewed()] }),
    () => own("snip", { ids: [viewed(), 1] }),
    () => own("pin", { ids: [viewed()] }),
  ];
  await startModel({
    script: (request) => {
      if (isSummary(request)) {
        after = 1;
        return text(SUMMARY);
      }
      if (after > 0) {
        const [result] = request.lastToolResults;
        if (result?.content.includes("steps ago") === true) listed = result.content;
        const next = afterwards[after++ - 1] ?? text("All is read.");
        return typeof next === "function" ? next() : next;
      }
      // small steps, until the user has asked
      return ++turn < 4 ? view() : toolUse({ name: "glob", input: { pattern: "*.none" } });
    },
  });
  Object.assign(world.env, modelEnv(server));
  await world.crux(["config", "set", "context.snip", "true"]);
  const run = world.crux(["run", "--max-steps", "2000", "Read it."]);
  await server.waitFor(() => turn >= 4);
  const compacted = await world.crux(["compact", "1", "--json"]);
  const { before, after: now } = json<{ before: number; after: number }>(compacted);
  expect(now).toBeLessThan(before);
  expect((await run).code).toBe(0);
  expect(said()).toContain("it was read");
  // what a summary alone tells of is looked at before it is removed
  const results = server.requests.slice(-9).map(({ lastToolResults: [result] }) => result?.content);
  expect(results).toEqual([
    expect.stringContaining("target not seen since compaction: big.txt"),
    expect.stringMatching(/^big\.txt/),
    expect.stringContaining("Permission denied"),
    expect.stringContaining("a line of words"),
    expect.stringMatching(/^Pinned, as \d+\.$/),
    expect.stringContaining("number, kind, tokens, steps ago, beginning:"),
    expect.stringMatching(/^They have left your view: about \d{4,} tokens are free again\.$/),
    // it has left the view, but the first one has words of the user, so that nothing is done
    expect.stringContaining("message 1 has words of the user: it stays in view"),
    expect.stringMatching(/message \d+ is not in view/),
  ]);
  const [listing = 0, without = 0] = server.requests.slice(-4, -2).map(({ rawBody }) => rawBody.length);
  expect(without).toBeLessThan(listing - 20_000);
  expect(said()).toContain("You pinned this; it stays in view");
  const told = await stat(1);
  expect(told.moves).toEqual(
    expect.arrayContaining([expect.objectContaining({ layer: "snip", trigger: "auto" })]),
  );
  expect(told.parts.pins).toBeGreaterThan(5);
  expect((await world.crux(["replay", "1"])).code).toBe(0);
});

test("old steps are folded beside the work where the setting says so, also after the daemon died", async () => {
  for (let n = 0; n < 30; n++) world.write(`part-${n}.txt`, `part ${n} of many, with words\n`.repeat(160));
  let turn = 0;
  await startModel({
    script: ({ messages }) => {
      const asked = JSON.stringify(messages.at(-1));
      if (asked.includes("<steps>")) return text("Read.");
      if (asked.includes("outgrow your context window")) return text(SUMMARY);
      if (++turn % 27 === 0) return text("All is read.");
      return toolUse({ name: "view", input: { file_path: `${world.work}/part-${turn % 30}.txt` } });
    },
  });
  Object.assign(world.env, modelEnv(server), { CRUX_MAX_CONTEXT_TOKENS: "40000" });
  await world.crux(["config", "set", "context.collapse", "true"]);
  expect((await world.crux(["chat", "-q"], { stdin: "Read them. Never push to main." })).code).toBe(0);
  const told = await stat(1);
  const folds = (told.folding as { committed: number; staged: number; failures: number }) ?? {};
  expect(folds).toMatchObject({ active: true, failures: 0 });
  expect(folds.committed).toBeGreaterThan(0);
  const layers = (told.moves as { layer: string }[]).map(({ layer }) => layer);
  expect(layers).toContain("collapse");
  expect(layers).not.toContain("full");
  expect(said()).toContain("It dealt with: ");
  expect(said()).toContain("Never push to main");
  process.kill(world.daemonPid!, "SIGKILL");
  expect((await world.crux(["-c", "-q", "and now?"])).code).toBe(0);
  expect((await world.crux(["replay", "1"])).code).toBe(0);
});

test("notes of the session take the place of a summary where the setting says so, also after the daemon died", async () => {
  for (let n = 0; n < 30; n++) world.write(`part-${n}.txt`, `part ${n} of many, with words\n`.repeat(160));
  let [turn, notes] = [0, 0];
  await startModel({
    script: ({ messages }) => {
      const asked = JSON.stringify(messages.at(-1));
      if (asked.includes("is kept as notes for that moment"))
        return text(`## Goal: read them\n## Now: NOTES ${++notes}`);
      if (asked.includes("outgrow your context window")) return text(SUMMARY);
      if (++turn % 27 === 0) return text("All is read.");
      return toolUse({ name: "view", input: { file_path: `${world.work}/part-${turn % 30}.txt` } });
    },
  });
  Object.assign(world.env, modelEnv(server), { CRUX_MAX_CONTEXT_TOKENS: "40000" });
  await world.crux(["config", "set", "compaction.sessionNotes", "true"]);
  expect((await world.crux(["chat", "-q"], { stdin: "Read them. Never push to main." })).code).toBe(0);
  process.kill(world.daemonPid!, "SIGKILL");
  const asked = server.requests.length;
  expect((await world.crux(["compact", "1"])).code).toBe(0);
  // nothing was asked for it
  expect(server.requests).toHaveLength(asked);
  const layers = ((await stat(1)).moves as { layer: string }[]).map(({ layer }) => layer);
  expect(layers).toContain("notes");
  expect(layers).not.toContain("full");
  expect((await world.crux(["-c", "-q", "and now?"])).code).toBe(0);
  expect(said()).toMatch(/NOTES \d/);
  expect(said()).toContain("Never push to main");
  expect((await world.crux(["replay", "1"])).code).toBe(0);
});

test("the end of an agent that comes while its parent is summarised is told once, after the summary", async () => {
  world.write("big.txt", "a line of words\n".repeat(1_500));
  const gate = Promise.withResolvers<void>();
  let [turn, isOver] = [0, false];
  const dig = { description: "digs", prompt: "dig", run_in_background: true };
  const isDig = ({ messages }: ModelRequest) =>
    messages.some((each) => each.role === "user" && userTexts(each).some((words) => words.startsWith("dig")));
  await startModel({
    script: async (request) => {
      if (isDig(request)) return text("Found it.").until(gate.promise);
      if (isSummary(request)) {
        gate.resolve();
        expect((await world.crux(["wait", "2"])).code).toBe(0);
        isOver = true;
        return text(SUMMARY);
      }
      if (isOver) return text("All is read.");
      if (turn++ === 0) return toolUse({ name: "agent", input: dig });
      const view = { name: "view", input: { file_path: `${world.work}/big.txt` } };
      return toolUse(turn < 5 ? view : { name: "glob", input: { pattern: "*.none" } });
    },
  });
  Object.assign(world.env, modelEnv(server));
  const run = world.crux(["run", "--max-steps", "2000", "Read it."]);
  await server.waitFor(() => turn >= 5);
  expect((await world.crux(["compact", "1"])).code).toBe(0);
  expect((await run).code).toBe(0);
  expect(said()).toContain("it was read");
  expect(said().split("<task-notification>")).toHaveLength(2);
});

test("an agent that another has started is compacted by itself, and the other is not", async () => {
  for (let n = 0; n < 30; n++) world.write(`part-${n}.txt`, `part ${n} of many, with words\n`.repeat(160));
  let [turn, summaries] = [0, 0];
  const isDig = ({ messages }: ModelRequest) =>
    messages.some((each) => each.role === "user" && userTexts(each).some((words) => words.startsWith("dig")));
  await startModel({
    script: (request) => {
      if (isSummary(request)) {
        summaries++;
        return text(SUMMARY);
      }
      if (!isDig(request))
        return request.assistantTurns > 0
          ? text("All is found.")
          : toolUse({ name: "agent", input: { description: "digs", prompt: "dig" } });
      const view = { name: "view", input: { file_path: `${world.work}/part-${turn % 30}.txt` } };
      return ++turn > 40 ? text("Found it.") : toolUse(view, { text: "On it goes. ".repeat(150) });
    },
  });
  Object.assign(world.env, modelEnv(server), { CRUX_MAX_CONTEXT_TOKENS: "40000" });
  const run = await world.crux(["run", "Find it. Never push to main."]);
  expect(run.code, run.stderr).toBe(0);
  const layers = async (pid: number) =>
    ((await stat(pid)).moves as { layer: string }[]).map(({ layer }) => layer);
  expect(await layers(1)).toEqual([]);
  const own = await layers(2);
  expect(own).toContain("micro");
  expect(own.filter((layer) => layer === "full")).toHaveLength(summaries);
  expect(summaries).toBeGreaterThan(0);
  expect((await world.crux(["replay", "2"])).code).toBe(0);
});
