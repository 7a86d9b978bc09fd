/** What the model sees of a process, shown and steered by the user. */
import { describe, expect, test } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { server, startModel, world } from "./harness/stage.ts";
import { text, toolUse } from "./model-server/reply.ts";

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
    ).toEqual([...["system", "tools", "instructions", "messages", "results"]]);
    process.kill(world.daemonPid!, "SIGKILL");
    expect(await stat(1)).toEqual(told);
    const { stdout } = await world.crux(["context", "1"]);
    expect(stdout).toMatch(/instruction files +\d+/);
    expect((await world.crux(["context", "99"])).stderr).toContain("process not found: 99");
  });
});
