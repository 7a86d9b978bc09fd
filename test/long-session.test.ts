/** A session of 200 turns through all that may happen to one, and what its records say of it afterwards. */
import { expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";
import { overloaded, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";
import { startModelServer } from "./model-server/server.ts";

const RUNS = 8;
const TURNS_PER_RUN = 25;
/** Runs whose first model is overloaded in the middle, so that the other one answers. */
const SWITCHED: readonly number[] = [2, 5];
/** Runs after which the user has the conversation summarised. */
const SUMMARISED: readonly number[] = [1, 3, 6];
/** The run before which the user takes the other model; after it, the first one again. */
const CHOSEN = 7;
/** The run in whose middle the daemon dies. */
const KILLED = 4;

const isSummary = ({ lastUserText }: ModelRequest) => lastUserText.includes("Write the summary");

it("replays byte for byte, three compactions, four model switches, a kill and a fork included", async () => {
  const world = new World();
  let [turn, run, overloads] = [0, 0, 0];
  const killing = Promise.withResolvers<void>();
  const answer = (request: ModelRequest, isFirst: boolean) => {
    if (isSummary(request)) return text("## Goal: count\n## Now: counting on");
    if (isFirst && SWITCHED.includes(run) && turn === 10 && overloads < 3) {
      overloads++;
      return overloaded({ "retry-after-ms": "1" });
    }
    if (run === KILLED && turn === 12) killing.resolve();
    if (++turn % TURNS_PER_RUN === 0) {
      [turn, overloads] = [0, 0];
      return text(`Part ${run} is done.`);
    }
    const view = toolUse({ name: "view", input: { file_path: `file-${turn % 3}.txt` } });
    const ls = toolUse({ name: "ls", input: { path: "." } });
    return turn % 4 === 0 ? text("Both.").and(view, ls) : view;
  };
  const first = await startModelServer({ script: (request) => answer(request, true) });
  const second = await startModelServer({ script: (request) => answer(request, false) });
  try {
    for (let n = 0; n < 3; n++)
      world.write(`file-${n}.txt`, Array.from({ length: 40 }, (_, i) => `${n}: line ${i}`).join("\n"));
    Object.assign(world.env, modelEnv(first, "anthropic"), modelEnv(second, "openai"));
    expect((await world.crux(["daemon", "start"])).code).toBe(0);
    const ask = async (method: string, payload: object) => {
      await using wire = await Wire.open(world.socket);
      return await wire.ask(method, payload);
    };
    const begun = await ask("spawn", {
      intent: "",
      session: true,
      cwd: world.work,
      env: { ...world.env },
      max_steps: TURNS_PER_RUN + 5,
      model: "anthropic/sonnet",
      fallback_models: ["openai/test-model"],
    });
    const pid = Number(begun?.payload?.pid);
    const isWaiting = async () => {
      const { stdout } = await world.crux(["ps", "--json", "-v"]);
      const { processes } = (
        JSON.parse(stdout) as { data: { processes: { pid: number; activity: string }[] } }
      ).data;
      return processes.find((each) => each.pid === pid)?.activity === "waiting";
    };
    for (run = 0; run < RUNS; run++) {
      const heard = first.requests.length + second.requests.length;
      if (run === CHOSEN) expect((await world.crux(["model", `${pid}`, "openai/test-model"])).code).toBe(0);
      await ask("session.say", { pid, text: `part ${run}`, client: "" });
      if (run === KILLED) {
        await killing.promise;
        process.kill(world.daemonPid!, "SIGKILL");
        await world.crux(["daemon", "start", "--normal"]);
        await world.crux(["resume", "-q", `${pid}`]);
      }
      const isOver = async () =>
        first.requests.length + second.requests.length >= heard + 20 && turn === 0 && (await isWaiting());
      expect(await settled(isOver, (is) => is, 60_000), `run ${run}`).toBe(true);
      if (SUMMARISED.includes(run)) expect((await world.crux(["compact", `${pid}`])).code).toBe(0);
    }
    expect((await world.crux(["model", `${pid}`, "anthropic/sonnet"])).code).toBe(0);
    const forked = await world.crux(["fork", `${pid}`, "--json", "-m", "one more part"]);
    const fork = (JSON.parse(forked.stdout) as { data: { pid: number } }).data.pid;
    await settled(
      () => turn,
      (now) => now > 5,
    );
    await world.crux(["kill", `${fork}`]);
    await world.crux(["kill", `${pid}`]);
    for (const each of [pid, fork]) {
      const replayed = await world.crux(["replay", `${each}`]);
      expect(replayed.stdout, replayed.stderr).toContain("0 differences");
    }
    const journal = (await world.crux(["journal", `${pid}`, "--json"])).stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { kind: string; body: Record<string, unknown> });
    const said = journal.filter(({ kind, body }) => kind === "ctx.record" && body.role === "assistant");
    expect(said.length).toBeGreaterThanOrEqual(RUNS * TURNS_PER_RUN - 5);
    expect(journal.filter(({ kind }) => kind === "ctx.move")).toHaveLength(SUMMARISED.length);
    expect(journal.filter(({ kind }) => kind === "process.recovered")).toHaveLength(1);
    expect(second.requests.length).toBeGreaterThan(SWITCHED.length * 10);
    expect([...first.rejected, ...second.rejected]).toEqual([]);
  } finally {
    await world.close();
    await first.close();
    await second.close();
  }
}, 300_000);
