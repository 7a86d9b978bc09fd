import { describe, expect, test } from "vitest";
import { ALL_RIGHTS, type Rights } from "../../../abi/rights.ts";
import { agentFile, type Started, testKernel } from "../../testing/test-kernel.ts";
import { rightsOf } from "./kept-rights.ts";

const settings = { allow: ["bash(npm test)"], ask: ["edit"], deny: ["fetch"] };

describe("notes of its own", () => {
  const keeper = (more = {}) => {
    const agent = agentFile();
    return { ...agent, manifest: { ...agent.manifest, name: "My Agent", memory: "user", ...more } as const };
  };

  test("an agent file with a memory gives its folder, and the tools for it that it does not list", async () => {
    const t = testKernel();
    const notes = async (more = {}) => (await t.start({ agent: keeper(more) })).proc.seed.rights;
    expect((await notes()).notes).toEqual({ scope: "user", folder: "my-agent", tools: [] });
    const { notes: own, tools } = await notes({ tools: ["grep", "view"] });
    expect([own?.tools, tools]).toEqual([
      ["edit", "write"],
      ["grep", "mcp__*", "view"],
    ]);
    expect((await notes({ tools: ["grep"], disallowedTools: ["edit", "write"] })).notes?.tools).toEqual([
      "view",
    ]);
  });

  test("they are not passed on, and no tool is more than the parent or the request gives", async () => {
    const t = testKernel();
    const parent = await t.start({ agent: keeper({ tools: ["grep"] }) });
    const child = await t.start({ by: parent.sys });
    expect([child.proc.seed.rights.notes, child.proc.seed.rights.tools]).toEqual([
      undefined,
      ["grep", "mcp__*"],
    ]);
    const agent = keeper({ tools: ["grep"] });
    expect((await t.start({ by: parent.sys, agent })).proc.seed.rights.notes?.tools).toEqual([]);
    const wish = { rights: { tools: ["grep", "view"] } };
    expect((await t.start({ agent, ...wish })).proc.seed.rights.notes?.tools).toEqual(["view"]);
  });

  test("a run without memory has none, nor what it starts", async () => {
    const t = testKernel();
    const agent = keeper({ tools: ["grep"] });
    const off = await t.start({ agent, env: { CRUX_DISABLE_AUTO_MEMORY: "1" } });
    const child = await t.start({ by: off.sys, agent });
    expect([off.proc.seed.rights.notes, child.proc.seed.rights.notes]).toEqual([undefined, undefined]);
  });

  test("a later daemon reads them from the record of the spawn, and no folder elsewhere", () => {
    const notes = { scope: "user", folder: "my-agent", tools: ["view"] } as const;
    const read = (kept: unknown) => rightsOf({ rights: { ...ALL_RIGHTS, notes: kept } as Rights }).notes;
    expect(read(notes)).toEqual(notes);
    expect(read({ ...notes, folder: "../.." })).toBeUndefined();
    expect(read({ ...notes, scope: "all" })).toBeUndefined();
  });
});

describe("settings given with a start", () => {
  test("a person's rules count with that source, beside those of the command line", async () => {
    const t = testKernel();
    const { proc } = await t.start({ rights: { allow: ["view"], deny: ["write"], settings } });
    const { allow, ask, deny } = proc.seed.rights;
    expect({ allow, ask, deny }).toEqual({
      allow: [
        { source: "cliArg", behavior: "allow", text: "view" },
        { source: "flagSettings", behavior: "allow", text: "bash(npm test)" },
      ],
      ask: [{ source: "flagSettings", behavior: "ask", text: "edit" }],
      deny: [
        { source: "flagSettings", behavior: "deny", text: "fetch" },
        { source: "cliArg", behavior: "deny", text: "write" },
      ],
    });
  });

  test("an agent's only narrow what it starts", async () => {
    const t = testKernel();
    const parent = await t.start({ rights: { allow: ["view"] } });
    const { proc } = await t.start({ by: parent.sys, rights: { settings } });
    const { allow, ask, deny } = proc.seed.rights;
    expect(allow).toEqual([{ source: "cliArg", behavior: "allow", text: "view" }]);
    expect([...ask, ...deny]).toEqual([
      { source: "command", behavior: "ask", text: "edit" },
      { source: "command", behavior: "deny", text: "fetch" },
    ]);
  });

  test("where an agent's file lets things leave counts for who a person starts, and its children have no more", async () => {
    const t = testKernel();
    const file = (outward: readonly ("web" | "mcp")[]) => {
      const agent = agentFile();
      return { ...agent, manifest: { ...agent.manifest, outward } };
    };
    const [researcher, wide] = [file(["web"]), file(["web", "mcp"])];
    const texts = ({ proc }: Started) => proc.seed.rights.allow?.map(({ text }) => text);
    const parent = await t.start({ agent: researcher });
    expect(texts(parent)).toEqual(["outward(web)"]);
    expect(texts(await t.start({ agent: wide, by: parent.sys }))).toEqual(["outward(web)"]);
    const plain = await t.start();
    expect(texts(await t.start({ agent: wide, by: plain.sys }))).toEqual([]);
    const grandchild = await t.start({ by: (await t.start({ by: parent.sys })).sys });
    expect(texts(grandchild)).toEqual(["outward(web)"]);
  });

  test("what a person writes that is no rule is INVALID, and nothing starts; of an agent's it only narrows", async () => {
    const t = testKernel();
    t.permit.notRule = ({ text, behavior }) => (text === "bash(" ? `no ${behavior}` : null);
    for (const rights of [{ allow: ["bash("] }, { deny: ["bash("] }, { settings: { ask: ["bash("] } }])
      await expect(t.start({ rights })).rejects.toMatchObject({
        code: "INVALID",
        message: expect.stringMatching(/^not a rule: "bash\(": no (allow|deny|ask)$/),
      });
    const parent = await t.start({ rights: { allow: ["view"] } });
    const { proc } = await t.start({ by: parent.sys, rights: { deny: ["bash("] } });
    expect(proc.seed.rights.deny).toMatchObject([{ text: "bash(" }]);
  });

  test("too many, or one that is none, is INVALID", async () => {
    const t = testKernel();
    const many = { settings: { deny: Array.from({ length: 2001 }, (_, i) => `bash(x${i})`) } };
    await expect(t.start({ rights: many })).rejects.toMatchObject({ code: "INVALID" });
    await expect(t.start({ rights: { settings: { ask: [" "] } } })).rejects.toMatchObject({
      code: "INVALID",
    });
  });
});
