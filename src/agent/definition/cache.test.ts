import { describe, expect, test } from "vitest";
import type { AgentInfo } from "../../abi/agent.ts";
import { memoryFiles } from "../testing/memory-files.ts";
import { DefinitionCache, type StampedFiles } from "./cache.ts";
import { makeAgentLoader } from "./loader.ts";

/** Files whose stamps are their texts; `reads` counts what was read. */
function bench(entries: Record<string, string>) {
  const count = { reads: 0 };
  const current = () => memoryFiles(entries);
  const files: StampedFiles = {
    readText: (path) => {
      count.reads++;
      return current().readText(path);
    },
    list: (dir) => current().list(dir),
    realPath: (path) => current().realPath(path),
    stamp: (path) =>
      JSON.stringify(
        Object.entries(entries).filter(([name]) => name === path || name.startsWith(`${path}/`)),
      ),
  };
  const cache = new DefinitionCache<AgentInfo>(files, {
    most: 64,
    mayKeep: ({ manifest }) => manifest.mcp.length === 0,
  });
  const load = (name = "helper") =>
    cache.load(name, (seen) =>
      makeAgentLoader({ dirs: ["/low", "/high"], skillDirs: [], files: seen }).load(name),
    );
  return { entries, count, load };
}

const helper = { "/low/helper/agent.yaml": "name: helper", "/low/helper/instructions.md": "Help." };

describe("DefinitionCache", () => {
  test("load() gives the same agent while nothing changed, and reads nothing for it", async () => {
    const { count, load } = bench({ ...helper });
    const first = await load();
    const { reads } = count;
    expect(await load()).toBe(first);
    expect(count.reads).toBe(reads);
  });

  test("load() sees a changed text", async () => {
    const { entries, load } = bench({ ...helper });
    await load();
    entries["/low/helper/instructions.md"] = "Help more.";
    expect((await load()).instructions).toBe("Help more.");
  });

  test("load() sees a definition that came in a place of higher precedence", async () => {
    const { entries, load } = bench({ ...helper, "/high/other/agent.yaml": "name: other" });
    await load();
    entries["/high/helper/agent.yaml"] = "name: helper";
    entries["/high/helper/instructions.md"] = "Higher.";
    expect((await load()).instructions).toBe("Higher.");
  });

  test("load() forgets one that went", async () => {
    const { entries, load } = bench({ ...helper });
    await load();
    delete entries["/low/helper/agent.yaml"];
    await expect(load()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("load() reads an agent with servers each time", async () => {
    const yaml = "name: helper\nmcp:\n  - { name: notes, command: notes }";
    const { count, load } = bench({ ...helper, "/low/helper/agent.yaml": yaml });
    await load();
    const { reads } = count;
    await load();
    expect(count.reads).toBeGreaterThan(reads);
  });
});
