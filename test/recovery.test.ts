/** Agents across daemons that are killed: they go on by themselves where they may, and nothing is done twice. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";

onStage();

const STEPS = 10;
const UNKNOWN = /outcome unknown/;

const bash = (command: string) => toolUse({ name: "bash", input: { command } });

async function start(...words: string[]): Promise<number> {
  const args = ["-q", "-d", "--permission-mode", "bypass", ...words];
  return Number((await world.crux(args)).stdout);
}

const killDaemon = () => process.kill(world.daemonPid!, "SIGKILL");
const ran = (name: string) => (existsSync(join(world.work, name)) ? world.file(name).trim().split("\n") : []);

const bodies = (kind: string) => world.bodies(kind);
interface Proc {
  readonly pid: number;
  readonly activity: string | null;
  readonly state: string;
}
async function list(): Promise<readonly Proc[]> {
  const { stdout } = await world.crux(["ps", "--json", "-v"]);
  return (JSON.parse(stdout) as { data: { processes: Proc[] } }).data.processes;
}

describe("kill -9 of the daemon, again and again", () => {
  it("a headless agent finishes its ten commands: each ran once, or its outcome was told as unknown", async () => {
    const told: boolean[] = [];
    await serve((request) => {
      for (const { content } of request.lastToolResults)
        told[request.assistantTurns - 1] = UNKNOWN.test(String(content));
      return request.assistantTurns < STEPS
        ? bash(`echo ${request.assistantTurns} >> ran; sleep 0.05`)
        : text("All done.");
    });
    const pid = await start("--max-steps", "20", "--budget", "100000", "work");
    for (let round = 0; round < 5; round++) {
      // at no particular place
      await pass(120 + ((round * 77) % 200));
      killDaemon();
      // that many deaths in a row are no reason for safe mode here
      await world.crux(["daemon", "start", "--normal"]);
    }
    await world.crux(["wait", String(pid)]);
    expect(bodies("process.exited")).toMatchObject([{ code: 0, result: "All done." }]);
    const lines = ran("ran");
    expect(new Set(lines).size).toBe(lines.length);
    for (let step = 0; step < STEPS; step++)
      if (!lines.includes(`${step}`)) expect(told[step], `step ${step}`).toBe(true);
    expect(told).toHaveLength(STEPS);
    expect(bodies("process.recovered").length).toBeGreaterThan(0);
  });

  it("thirty agents, half of them paused, come back and go on", async () => {
    const unknown = new Set<string>();
    await serve((request) => {
      const name = /job-\d+/.exec(JSON.stringify(request.messages))?.[0] ?? "";
      if (request.assistantTurns === 0) return bash(`echo ${name} >> ran`);
      if (request.lastToolResults.some(({ content }) => UNKNOWN.test(String(content)))) unknown.add(name);
      return text("Done.");
    });
    const agents = 30;
    const pids: number[] = [];
    for (let n = 0; n < agents; n++) {
      const pid = await start(`job-${n}`);
      if (n % 2 === 0) await world.crux(["pause", String(pid)]);
      pids.push(pid);
    }
    killDaemon();
    const held = (await list()).filter(({ activity }) => activity === "paused").map(({ pid }) => pid);
    for (const pid of held) await world.crux(["resume", "-q", String(pid)]);
    const over = await settled(
      async () => (await list()).filter(({ state }) => state === "running").length,
      (running) => running === 0,
    );
    expect(over).toBe(0);
    const names = ran("ran");
    expect(new Set(names).size).toBe(names.length);
    for (let n = 0; n < agents; n++) if (!names.includes(`job-${n}`)) expect(unknown).toContain(`job-${n}`);
    expect(bodies("process.exited").map(({ code }) => code)).toEqual(Array(agents).fill(0));
  });
});

describe("crux resume", () => {
  it("makes an agent that had completed wait for the next message, in another daemon", async () => {
    await serve((request) => text(`answer ${request.assistantTurns + 1}`));
    const { stdout } = await world.crux(["--json", "first question"]);
    const { pid } = (JSON.parse(stdout) as { data: { pid: number } }).data;
    expect((await world.crux(["daemon", "stop"])).code).toBe(0);
    expect((await world.crux(["resume", String(pid)])).stdout).toMatch(/^\[kernel\] PID \d+: /);
    expect((await world.crux(["send", String(pid), "and", "now?"])).code).toBe(0);
    await server.waitFor(() => server.requestCount === 2);
    expect(JSON.stringify(server.requests[1]!.messages)).toMatch(/first question.*answer 1.*and now\?/);
    await world.crux(["kill", String(pid)]);
  });

  it("of a pid that is not there is NOT_FOUND, and says how to find one", async () => {
    await serve(() => text("never"));
    const { code, stderr } = await world.crux(["resume", "9"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^✗ \[NOT_FOUND\] no process 9: .*\n {2}→ hint: \S/);
  });
});
