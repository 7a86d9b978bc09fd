import { expect, test } from "vitest";
import type { Settings } from "../../abi/settings/settings.ts";
import { onlyNarrows, settingsIn, takenFromFolder, whyNotTaken } from "./folder-keys.ts";
import { parseSettings } from "./settings.ts";

const files = (settings: Settings, path = "/ws/.crux/settings.json") =>
  [{ source: "projectSettings", path, settings, problems: [], digest: "d" }] as const;
const inFolder = (own: Settings, folder: Settings, { isTrusted = false, policy = {} } = {}) =>
  settingsIn(own, takenFromFolder(files(folder), isTrusted), policy);

test("a folder turns features off that the user has on, and none on", () => {
  const on: Settings = { context: { collapse: true, snip: true }, teams: { enabled: true } };
  const off: Settings = { context: { collapse: false, snip: false }, teams: { enabled: false } };
  expect(inFolder(on, { ...off, micro: { idleMinutes: 0 } })).toEqual({ ...off, micro: { idleMinutes: 0 } });
  expect(inFolder(off, { ...on, micro: { idleMinutes: 5 } }, { isTrusted: true })).toEqual(off);
  expect(inFolder({}, { disableSkillShell: false, skills: { disabled: ["a"] } })).toEqual({
    skills: { disabled: ["a"] },
  });
});

test("a folder lowers a limit, and raises none; the policy's counts as well", () => {
  const lower = { budget: { usd: 2, tokens: 9 } };
  expect(inFolder({ budget: { usd: 5 } }, lower).budget).toEqual(lower.budget);
  expect(inFolder({ budget: { usd: 1, tokens: 3 } }, lower).budget).toEqual({ usd: 1, tokens: 3 });
  expect(inFolder({}, lower, { policy: { budget: { usd: 3 } } }).budget).toEqual(lower.budget);
});

test("a folder chooses a model once it is trusted, which the policy may overrule", () => {
  const folder: Settings = { model: "small", effort: "low", modelType: "xai", apiKeyHelper: "steal" };
  expect(inFolder({ model: "large" }, folder)).toEqual({ model: "large" });
  expect(inFolder({ model: "large" }, folder, { isTrusted: true })).toEqual({
    model: "small",
    effort: "low",
  });
  const policy = { model: "of-the-house" };
  expect(inFolder({}, folder, { isTrusted: true, policy })).toMatchObject(policy);
});

test("a folder has what was spent told sooner, and never not at all", () => {
  const reminder = (own: Settings, folder: Settings) => inFolder(own, folder).costReminderUsd;
  expect(reminder({}, { costReminderUsd: 2 })).toBe(2);
  expect(reminder({ costReminderUsd: 20 }, { costReminderUsd: 10 })).toBe(10);
  expect(reminder({ costReminderUsd: 0 }, { costReminderUsd: 10 })).toBe(10);
  expect(reminder({ costReminderUsd: 1 }, { costReminderUsd: 10 })).toBe(1);
  expect(reminder({}, { costReminderUsd: 10 })).toBe(5);
  expect(reminder({ costReminderUsd: 3 }, { costReminderUsd: 0 })).toBe(3);
  expect(whyNotTaken("costReminderUsd", 0, { isTrusted: true, own: 3 })).toEqual({ words: "only lower it" });
  expect(whyNotTaken("costReminderUsd", 10, { isTrusted: true })).toEqual({ words: "only lower it" });
  expect(whyNotTaken("costReminderUsd", 4, { isTrusted: false })).toBeNull();
});

test("of the settings of another program nothing counts here", () => {
  expect(takenFromFolder(files({ model: "opus" }, "/ws/.claude/settings.json"), true)).toEqual({});
});

test.each<[isNarrow: boolean, text: string]>([
  [true, "{}"],
  [true, '{"permissions":{"deny":["bash(rm:*)"],"ask":["edit"]}}'],
  [true, '{"permissions":{},"budget":{"usd":1,"steps":5},"costReminderUsd":1}'],
  [true, '{"teams":{"enabled":false},"disableSkillShell":true,"skills":{"disabled":["a"]}}'],
  // a name that no reader of the file ever sees
  [true, '{"__proto__":{"permissions":{"allow":["bash"]}}}'],
  [false, '{"permissions":{"deny":["bash"],"allow":[]}}'],
  [false, '{"permissions":{"deny":["bash"],"allow":["view"]}}'],
  [false, '{"permissions":{"deny":["bash"],"additionalDirectories":["/x"]}}'],
  [false, '{"permissions":{"deny":["bash"],"defaultMode":"plan"}}'],
  [false, '{"permissions":{"deny":["bash"],"dney":["view"]}}'],
  [false, '{"permissions":{"deny":"bash"}}'],
  [false, '{"permissions":{"deny":["bash",5]}}'],
  [false, '{"permissions":[]}'],
  [false, '{"permissions.deny":["bash"]}'],
  [false, '{"":{"permissions":{"deny":["bash"]}}}'],
  [false, '{"constructor":{}}'],
  [false, '{"deny":["bash"]}'],
  [false, '{"hooks":{}}'],
  [false, '{"env":{}}'],
  [false, '{"sandbox":{"mode":"required"}}'],
  [false, '{"labels":{"outward":[]}}'],
  [false, '{"teams":{"enabled":true}}'],
  [false, '{"disableSkillShell":false}'],
  [false, '{"costReminderUsd":0}'],
  [false, '{"budget":{"usd":1,"onLimit":"pause"}}'],
  [false, '{"budget":{"usd":-1}}'],
  [false, '{"statusLine":{"padding":1}}'],
  [false, '{"model":"small"}'],
  [false, "[]"],
  [false, "null"],
])("onlyNarrows() is %s for %s", (isNarrow, text) => {
  expect(onlyNarrows(parseSettings(JSON.parse(text), "f"))).toBe(isNarrow);
});
