/**
 * Conversations that outgrow the window of their model: a server that counts tokens and refuses what is over its window is
 * worked against for long. No run may end there, and no request may be refused twice in a row.
 */
import { describe, expect, test } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onStage();

const WINDOW = 32_000;
const TURNS = Number(process.env.CRUX_WINDOW_TURNS ?? 200);
const RULE = "Never push to main.";
const SUMMARY = "## Goal: read all files\n## Now: reading on";

const isSummary = ({ lastUserText }: ModelRequest) => lastUserText.includes("outgrow your context window");

/** How the server answered, in order: the turn, a summary, or a refusal. */
async function reader(turns: number, filesAtOnce: (turn: number) => number) {
  let turn = 0;
  await startModel({
    contextWindowTokens: WINDOW,
    script: (request) => {
      if (isSummary(request)) return text(SUMMARY);
      if (++turn > turns) return text("All is read.");
      const calls = Array.from({ length: filesAtOnce(turn) }, (_, i) => `big-${(turn + i) % 7}.txt`);
      const [first, ...more] = calls.map((name) =>
        toolUse({ name: "view", input: { file_path: `${world.work}/${name}` } }),
      );
      return more.reduce((reply, each) => reply.and(each), first!);
    },
  });
  Object.assign(world.env, modelEnv(server));
}

function files(lines: number): void {
  for (let n = 0; n < 7; n++)
    world.write(
      `big-${n}.txt`,
      Array.from({ length: lines }, (_, i) => `${n}: line ${i} of a long file, with words`).join("\n"),
    );
}

const summaries = () => server.requests.filter(isSummary).length;
const said = () => server.requests.at(-1)?.rawBody.toString() ?? "";

describe("a window of 32,000 tokens", () => {
  test("that the user names is never exceeded, over many turns of large results", async () => {
    files(900);
    await reader(TURNS, (turn) => (turn % 10 === 0 ? 3 : 1));
    const env = { CRUX_MAX_CONTEXT_TOKENS: `${WINDOW}` };
    const run = await world.crux(["run", "--max-steps", `${TURNS + 1}`, `Read all files. ${RULE}`], {
      env,
      timeoutMs: 200_000,
    });
    expect(run.stderr + run.stdout).toContain("All is read.");
    expect(run.code).toBe(0);
    expect(server.rejected.map(({ message }) => message)).toEqual([]);
    expect(summaries()).toBeGreaterThan(1);
    expect(said()).toContain(RULE);
  }, 240_000);

  test("that nobody knows of is learnt from one refusal, and kept", async () => {
    files(900);
    await reader(40, (turn) => (turn === 5 ? 8 : 1));
    const run = await world.crux(["run", "--max-steps", "60", `Read all files. ${RULE}`]);
    expect(run.stderr + run.stdout).toContain("All is read.");
    expect(server.rejected.length).toBe(1);
    expect(said()).toContain(RULE);
  });

  test("that a run has met with compaction turned off ends with a hint; a fork of it goes on, also after its daemon died", async () => {
    files(900);
    await reader(12, (turn) => (turn === 3 ? 8 : 1));
    const env = { CRUX_DISABLE_COMPACT: "1" };
    const args = ["run", "--max-steps", "60", `Read all files. ${RULE}`];
    const run = await world.crux(args, { env });
    expect(run.code).toBe(1);
    expect(run.stdout + run.stderr).toMatch(
      /does not fit .*compaction is turned off[\s\S]*CRUX_DISABLE_COMPACT/,
    );
    expect(server.rejected.length).toBe(1);
    process.kill(world.daemonPid!, "SIGKILL");
    const forked = await world.crux(["fork", "1", "--json", "-m", "Go on."]);
    const { pid } = (JSON.parse(forked.stdout) as { data: { pid: number } }).data;
    await server.waitFor(() => server.requests.some(isSummary));
    process.kill(world.daemonPid!, "SIGKILL");
    await world.crux(["resume", "-q", `${pid}`]);
    await server.waitFor(() => said().includes("Go on.") && server.requests.length > 12);
    expect(said()).toContain(RULE);
    // one refusal of the fork, which need not know the window
    expect(server.rejected.length).toBeLessThanOrEqual(3);
  });
});
