import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseSettings, readSettings } from "./settings.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-settings-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("readSettings()", () => {
  it("a missing file is empty, a good one is read, unknown keys are kept", () => {
    expect(readSettings(dir)).toEqual({ settings: {}, problems: [] });
    writeFileSync(join(dir, "settings.json"), '{"model":"opus","future":{"x":1}}');
    expect(readSettings(dir)).toEqual({ settings: { model: "opus", future: { x: 1 } }, problems: [] });
  });

  it("a file that is no JSON, or too large, is told and counts as empty", () => {
    writeFileSync(join(dir, "settings.json"), "{model");
    expect(readSettings(dir).problems[0]).toMatch(/^INVALID .*settings\.json: /);
    writeFileSync(join(dir, "settings.json"), JSON.stringify({ x: "y".repeat(1024 * 1024) }));
    expect(readSettings(dir)).toMatchObject({ settings: {}, problems: [expect.stringContaining("over")] });
  });
});

describe("parseSettings()", () => {
  it("leaves out what is wrong and keeps its neighbours", () => {
    const value = {
      model: 5,
      permissions: { deny: ["bash(rm *)", 7, "view(~/.ssh/**)", null], allow: "all" },
      daemon: { idleTimeoutMs: -1 },
      requireModel: true,
    };
    const { settings, problems } = parseSettings(value, "s");
    expect(settings).toEqual({
      permissions: { deny: ["bash(rm *)", "view(~/.ssh/**)"] },
      daemon: {},
      requireModel: true,
    });
    expect(problems.map((line) => line.split(": ")[1]).sort()).toEqual([
      "daemon.idleTimeoutMs",
      "model",
      "permissions.allow",
      "permissions.deny.1",
      "permissions.deny.2",
    ]);
    expect(value.permissions.deny).toHaveLength(4);
  });

  it("what is no object at all is empty", () => {
    for (const value of [null, [], "x"]) {
      const { settings, problems } = parseSettings(value, "s");
      expect([settings, problems.length]).toEqual([{}, 1]);
    }
  });
});
