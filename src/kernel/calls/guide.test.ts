import { describe, expect, test } from "vitest";
import type { Guided } from "../ports/guides.ts";
import { agentFile, testKernel } from "../testing/test-kernel.ts";

const none = { instructions: [], notices: [] };
const found = { git: "branch main", instructions: [], notices: [] };

describe("Surroundings()", () => {
  test("tells what was found for the process, with its scratch folder; asked once in its life", async () => {
    const asked: Guided[] = [];
    const around = async (guided: Guided) => {
      asked.push(guided);
      return found;
    };
    const near = async (_: Guided, dirs: readonly string[]) => ({ ...none, notices: dirs });
    const t = testKernel({ guides: { around, near } });
    const { pid, sys, proc, end } = await t.start({ cwd: "/project", env: { A: "b" }, agent: agentFile() });
    const told = await sys.surroundings();
    expect(told).toEqual({ ...found, confinement: null, scratch: proc.seed.scratch });
    expect(await sys.surroundings()).toBe(told);
    expect(asked).toEqual([
      {
        pid,
        cwd: "/project",
        env: expect.objectContaining({ A: "b" }),
        hasAgent: true,
        agents: {},
        denied: expect.any(Function),
      },
    ]);
    expect(await sys.nearby(["/project/a"])).toEqual({ ...none, notices: ["/project/a"] });
    end();
  });

  test("without guides there is nothing but the scratch folder", async () => {
    const t = testKernel();
    const { sys, proc, end } = await t.start();
    expect(await sys.surroundings()).toEqual({
      git: "",
      instructions: [],
      notices: [],
      confinement: null,
      scratch: proc.seed.scratch,
    });
    expect(await sys.nearby(["/project/a"])).toEqual(none);
    end();
  });
});
