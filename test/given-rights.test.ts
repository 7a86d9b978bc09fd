/** What a person gives to a run and takes back again, from outside: settings of the run, tools that are denied, jobs by a grant. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inTurn, modelEnv } from "./harness/model.ts";
import { onSharedStage, server, startModel, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";

onSharedStage({ sandbox: { mode: "off" } });

const results = () => server.requests.flatMap(({ lastToolResults }) => lastToolResults);

it("--settings: its rules hold for the run, and the settings of the user stay as they are", async () => {
  const touch = (name: string) => toolUse({ name: "bash", input: { command: `touch ${name}` } });
  const script = inTurn(touch("a"), touch("b"), text("Done."));
  await startModel({ script });
  const env = modelEnv(server);
  world.write(
    "run.json",
    JSON.stringify({ permissions: { allow: ["bash(touch *)"], deny: ["bash(touch b)"] } }),
  );
  const run = await world.crux(["--settings", "run.json", "go"], { env });
  expect(run.code, run.stderr).toBe(0);
  const [a, b] = results();
  expect(a?.content).not.toContain("Error");
  expect(b?.content).toMatch(/PERMISSION.*rule bash\(touch b\) of the settings given with --settings/);
  await server.close();
  await startModel({ script });
  await world.crux(["go"], { env: modelEnv(server) });
  expect(results()[0]?.content).toContain("PERMISSION");
});

it("a tool that is denied as a whole is not offered, and a call of it is told as of one that never was", async () => {
  const calls = ["ls", "lz"].map((name) => toolUse({ name, input: {} }));
  await startModel({ script: inTurn(...calls, text("Done.")) });
  const run = await world.crux(["--deny", "ls", "go"], { env: modelEnv(server) });
  expect(run.code, run.stderr).toBe(0);
  expect(server.requests[0]?.tools).not.toContain("ls");
  const [denied, missing] = results().map(({ content }) => content.replaceAll(/\bl[sz]\b/g, "X"));
  expect(denied).toBe(missing);
});

it("a grant that is taken back with --kill ends the job that relied on it", async () => {
  // it reads a pipe that nobody writes to
  execFileSync("mkfifo", [join(world.work, "pipe")]);
  const job = toolUse({ name: "bash", input: { command: "split pipe", run_in_background: true } });
  await startModel({ script: inTurn(job, text("started")) });
  await world.crux(["daemon", "start"]);
  const wire = await Wire.open(world.socket);
  const env = { ...world.env, ...modelEnv(server) };
  const asked = { intent: "go", session: true, interactive: true, cwd: world.work, env };
  const pid = (await wire.ask("spawn", asked))?.payload?.pid as number;
  for (;;) {
    const { payload } = (await wire.next()) ?? {};
    if (payload?.event === "ask") {
      await using hand = await Wire.open(world.socket);
      const reply = await hand.ask("ask.answer", { ask_id: payload.ask_id, answer: "always" });
      expect(reply, JSON.stringify(payload)).toMatchObject({ ok: true });
    }
    if (payload === undefined || payload.event === "idle") break;
  }
  const jobs = async () => {
    const { stdout } = await world.crux(["jobs", String(pid), "--json"]);
    return (JSON.parse(stdout) as { data: { jobs: { state: string }[] } }).data.jobs.map(
      ({ state }) => state,
    );
  };
  expect(await jobs()).toEqual(["running"]);
  const { stdout } = await world.crux(["grants", "--json"]);
  const [grant] = (JSON.parse(stdout) as { data: { grants: { id: string; rule: string }[] } }).data.grants;
  expect(grant?.rule).toContain("split");
  expect((await world.crux(["grants", "rm", grant?.id ?? "", "--kill"])).code).toBe(0);
  expect(await settled(jobs, ([state]) => state !== "running")).toEqual(["killed"]);
  expect(world.commands(/split pipe/)).toEqual([]);
  await wire.close();
});
