/** Mode auto, seen from outside: a model judges what would ask, and whatever it does not clearly let through does not happen. */
import { beforeEach, describe, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onSharedStage, ownWorld, server, startModel, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { error, type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onSharedStage();
beforeEach(() => {
  world.write("a.txt", "aaa\n");
});

const CHANGE = toolUse({ name: "bash", input: { command: "sed -i s/a/b/ a.txt" } });
const isJudge = ({ system }: ModelRequest) => system.includes("You decide whether one call");
const judged = () => server.requests.filter(isJudge);
const worked = () => server.requests.filter((request) => !isJudge(request));
const textsOf = ({ messages }: ModelRequest) =>
  messages.flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
const results = () =>
  worked().flatMap(({ lastToolResults }) => lastToolResults.map(({ content }) => content));

/** The agent makes `calls` calls, one a turn; the judge answers as told. */
async function serve(
  judge: (n: number, request: ModelRequest) => Reply | Promise<Reply>,
  calls = 1,
): Promise<void> {
  let n = 0;
  await startModel({
    script: (request) => {
      if (isJudge(request)) return judge(n++, request);
      return request.assistantTurns < calls ? CHANGE : text("All done.");
    },
  });
  Object.assign(world.env, modelEnv(server, "anthropic"), { CRUX_MAX_RETRIES: "1" });
}

const bodies = (kind: string) => world.bodies(kind);
describe("crux --enable-auto-mode", () => {
  it("what the first stage lets through runs, on the process's account, and the model hears of the mode once", async () => {
    await serve(() => text("<block>no</block>"), 2);
    const run = await world.crux(["--enable-auto-mode", "-v", "change it"]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toContain("mode=auto");
    expect(world.file("a.txt")).toBe("bba\n");
    expect(judged()).toHaveLength(2);
    const [first, ...later] = worked();
    expect(textsOf(first!).filter((said) => said.includes("Mode auto is on"))).toHaveLength(1);
    expect(textsOf(later.at(-1)!).filter((said) => said.includes("Mode auto"))).toHaveLength(1);
    expect(bodies("permit.classified")).toMatchObject([
      { tool: "bash", stage: "fast", verdict: "allow", shouldBlock: false },
      { tool: "bash", stage: "fast", verdict: "allow", shouldBlock: false },
    ]);
    const purposes = bodies("call.result").map(
      ({ cost }) => (cost as { purpose?: string } | undefined)?.purpose,
    );
    expect(purposes.filter((purpose) => purpose === "helper")).toHaveLength(2);
  });

  it("a block goes to the second stage, over the same bytes; what stays blocked does not run and says why", async () => {
    await serve((n) =>
      text(
        n === 0 ? "<block>yes" : "<thinking>hm</thinking><block>yes</block><reason>not asked for</reason>",
      ),
    );
    const run = await world.crux(["--enable-auto-mode", "change nothing"]);
    expect(run.code).toBe(0);
    expect(world.file("a.txt")).toBe("aaa\n");
    expect(results()).toEqual([
      expect.stringMatching(/^Error \[PERMISSION\]: .*blocked this call of bash: not asked for/),
    ]);
    const [fast, thinking, ...more] = judged();
    expect(more).toEqual([]);
    expect(thinking!.system).toBe(fast!.system);
    expect(textsOf(thinking!).slice(0, -1)).toEqual(textsOf(fast!).slice(0, -1));
    expect(fast!.body.max_tokens).toBe(64);
    expect(textsOf(fast!)[0]).toContain('{"user":"change nothing"}');
    expect(bodies("permit.classified")).toMatchObject([
      { stage: "fast" },
      { stage: "thinking", thinking: "hm" },
    ]);
  });

  it("what the second stage lets through runs", async () => {
    await serve((n) => text(n === 0 ? "<block>yes" : "<block>no</block>"));
    expect((await world.crux(["--enable-auto-mode", "change it"])).code).toBe(0);
    expect(world.file("a.txt")).toBe("baa\n");
  });

  it.each(["garbage", "<block>no</block><block>no</block>", ""])(
    "%j never lets a call through",
    async (answer) => {
      await serve(() => text(answer));
      await world.crux(["--enable-auto-mode", "change it"]);
      expect(world.file("a.txt")).toBe("aaa\n");
      expect(results()[0]).toMatch(/^Error \[PERMISSION\]: /);
    },
  );

  it("a classifier that fails is asked once more; then the call is denied, for nobody is there", async () => {
    await serve(() => error(500), 6);
    await world.crux(["--enable-auto-mode", "--max-steps", "8", "change it"]);
    expect(world.file("a.txt")).toBe("aaa\n");
    expect(results()[0]).toMatch(/^Error \[PERMISSION\]: .*the classifier cannot judge bash/);
    expect(judged().length).toBeGreaterThanOrEqual(2);
    expect(bodies("permit.classified")[0]).toMatchObject({ unavailable: true, shouldBlock: true });
    expect(bodies("permit.circuit")[0]).toEqual({ failures: 1, isBroken: false });
  });

  it("a model that is not known to judge well is refused", async () => {
    await serve(() => text("<block>no</block>"));
    const run = await world.crux(["--enable-auto-mode", "-m", "claude-unknown-9", "change it"]);
    expect(run.code).toBe(1);
    expect(run.stderr + run.stdout).toContain(
      "auto mode: the model claude-unknown-9 is not known to judge calls",
    );
    expect(server.requests).toEqual([]);
  });

  it("kill -9 while it judges: the next daemon is in auto mode, judges again, and the call runs once", async () => {
    const held = Promise.withResolvers<void>();
    await serve((n) => (n === 0 ? text("<block>no</block>").until(held.promise) : text("<block>no</block>")));
    const pid = Number((await world.crux(["-q", "-d", "--enable-auto-mode", "change it"])).stdout);
    await settled(judged, (requests) => requests.length === 1);
    process.kill(world.daemonPid!, "SIGKILL");
    held.resolve();
    await world.crux(["daemon", "start", "--normal"]);
    expect((await world.crux(["mode", String(pid), "-q"])).stdout).toBe("auto\n");
    await world.crux(["wait", String(pid)]);
    expect(judged()).toHaveLength(2);
    expect(world.file("a.txt")).toBe("baa\n");
    const modes = worked().flatMap((request) =>
      textsOf(request).filter((said) => said.includes("Mode auto is on")),
    );
    expect(modes).toHaveLength(worked().length);
  });
});

describe("crux auto-mode", () => {
  it("defaults prints 9, 10 and 4; config what the settings make of them", async () => {
    ownWorld();
    await serve(() => text("<block>no</block>"));
    const of = async (word: string) =>
      JSON.parse((await world.crux(["auto-mode", word, "--json"])).stdout).data;
    const defaults = await of("defaults");
    expect([defaults.allow.length, defaults.soft_deny.length, defaults.environment.length]).toEqual([
      9, 10, 4,
    ]);
    expect(world.daemonPid).toBeUndefined();
    world.settings({ autoMode: { soft_deny: ["never on fridays", "$defaults"], stage: "thinking" } });
    expect(await of("config")).toEqual({
      ...defaults,
      soft_deny: ["never on fridays", ...defaults.soft_deny],
      stage: "thinking",
      during_plan: true,
    });
    expect((await world.crux(["auto-mode", "bogus"])).code).toBe(1);
  });
});
