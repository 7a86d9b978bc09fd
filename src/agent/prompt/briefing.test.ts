import { expect, test } from "vitest";
import type { ProgramStart } from "../../abi/program.ts";
import type { Surroundings } from "../../abi/surroundings.ts";
import type { Sys } from "../../abi/sys.ts";
import { type Briefing, briefingOf, forgetful } from "./briefing.ts";

const PLACE = { cwd: "/home/ana/shop", day: "2026-01-01", platform: "linux" };

/** What an agent is told whose project has this instruction file. */
function told(text: string, scratch: string): Promise<Briefing> {
  const around = {
    ...{ git: "", notices: [], confinement: null, scratch },
    instructions: [{ path: "/home/ana/shop/AGENTS.md", scope: "project" as const, text }],
  } satisfies Surroundings;
  const sys = { surroundings: async () => around, log: () => {} } as unknown as Sys;
  const start = { surroundings: true } as ProgramStart;
  const has = { usesAgents: false, usesSkills: false, mayWrite: false, mayKeep: false };
  return briefingOf(sys, start, { place: PLACE, ...has });
}

test("briefingOf() gives agents of one folder the same texts, each with a message of its own", async () => {
  const [one, other] = [await told("Use tabs.", "/scratch/1"), await told("Use tabs.", "/scratch/2")];
  expect(other.sections).toBe(one.sections);
  expect(other.reminder).toEqual(one.reminder);
  expect(other.reminder).not.toBe(one.reminder);
  expect(other.environment).toContain("/scratch/2");
  expect(forgetful(other).sections).toEqual(one.sections);
});

test("briefingOf() keeps apart what differs, and forgets texts that are no longer used", async () => {
  const first = await told("0", "");
  expect((await told("1", "")).sections[0]?.text).toContain("\n1\n");
  for (let n = 1; n <= 40; n++) await told(`${n}`, "");
  const again = await told("0", "");
  expect(again.sections).toEqual(first.sections);
  expect(again.sections).not.toBe(first.sections);
});

test("briefingOf() tells of agents by name, and what those can do to which tasks are given", async () => {
  const agents = [
    { name: "explore", description: "Finds things." },
    { name: "worker", description: "Works.", tools: ["bash", "mcp__notes"] },
  ];
  const around = {
    ...{ git: "", notices: [], confinement: null, scratch: "", instructions: [], agents },
  } satisfies Surroundings;
  const sys = { surroundings: async () => around, log: () => {} } as unknown as Sys;
  const has = { usesAgents: true, usesSkills: false, mayWrite: false, mayKeep: false };
  const { sections } = await briefingOf(sys, { surroundings: true } as ProgramStart, {
    place: PLACE,
    ...has,
  });
  expect(sections.map(({ text }) => text)).toEqual([
    "Values of subagent_type for agent:\n- explore: Finds things.\nTools of a worker: bash, mcp__notes",
  ]);
});
