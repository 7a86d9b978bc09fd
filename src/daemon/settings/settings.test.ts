import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseSettings, readSettingsFile } from "./settings.ts";

let dir = "";
let file = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-settings-"));
  file = join(dir, "settings.json");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("readSettingsFile()", () => {
  it("a missing file is empty, a good one is read, unknown keys are kept", () => {
    expect(readSettingsFile(file)).toEqual({ settings: {}, problems: [], digest: null });
    writeFileSync(file, '{"model":"opus","future":{"x":1}}');
    expect(readSettingsFile(file)).toMatchObject({
      settings: { model: "opus", future: { x: 1 } },
      problems: [],
    });
  });

  it("a file that is no JSON, or too large, is told and counts as empty", () => {
    writeFileSync(file, "{model");
    expect(readSettingsFile(file).problems[0]).toMatch(/^INVALID .*settings\.json: /);
    writeFileSync(file, JSON.stringify({ x: "y".repeat(1024 * 1024) }));
    expect(readSettingsFile(file)).toMatchObject({
      settings: {},
      problems: [expect.stringContaining("over")],
    });
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
      "permissions.deny.3",
    ]);
    expect(value.permissions.deny).toHaveLength(4);
  });

  it("what lacks something goes alone, told once", () => {
    const value = {
      permissions: { deny: ["bash(rm *)"] },
      prices: { one: { input: -1, output: 2 }, two: { input: 1, output: 2 } },
      devices: [
        { id: "system/x", driver: "loop" },
        { id: "a/b", driver: "loop" },
        { id: "c/d", driver: "nope" },
        { id: "e", driver: "char", path: "/dev/e", options: { readOnly: 3 } },
        { driver: "loop" },
        { id: "f", driver: "folder" },
        { id: "-g", driver: "loop" },
        { id: "h", driver: "loop", path: "/h" },
        7,
      ],
    };
    const { settings, problems } = parseSettings(value, "s");
    expect(settings.devices).toEqual([{ id: "a/b", driver: "loop" }]);
    expect(settings.permissions).toEqual(value.permissions);
    expect(settings.prices).toEqual({ two: { input: 1, output: 2 } });
    const [price, ...devices] = problems.toSorted(
      (a, b) => Number(/devices/.test(a)) - Number(/devices/.test(b)),
    );
    expect(price).toMatch(/^INVALID s: prices\.one\.input: .*>=0/);
    expect(devices).toEqual([
      'INVALID s: devices.0.id ("system/x"): ids that begin with system/ or virtual/ are reserved for the devices of Crux',
      expect.stringMatching(/^INVALID s: devices\.2\.driver \("c\/d"\): /),
      expect.stringMatching(/^INVALID s: devices\.3\.options\.readOnly \("e"\): .*boolean/),
      expect.stringMatching(/^INVALID s: devices\.4\.id: .*undefined$/),
      expect.stringMatching(/^INVALID s: devices\.5\.path \("f"\): .*undefined$/),
      expect.stringMatching(/^INVALID s: devices\.6\.id \("-g"\): an id has 1 to 128 /),
      expect.stringMatching(/^INVALID s: devices\.7 \("h"\): .*"path"/),
      expect.stringMatching(/^INVALID s: devices\.8: /),
    ]);
  });

  it("a file with very many mistakes keeps what is right, a deny first of all", () => {
    const deny = Array.from({ length: 1_500 }, (_, n) => (n % 3 === 0 ? n : `bash(tool-${n})`));
    const prices = Object.fromEntries(
      deny.map((_, n) => [`m${n}`, { input: n % 2 === 0 ? -1 : 1, output: 1 }]),
    );
    const { settings, problems } = parseSettings({ permissions: { deny }, prices }, "s");
    expect(settings.permissions?.deny).toEqual(deny.filter((rule) => typeof rule === "string"));
    expect(Object.keys(settings.prices ?? {})).toHaveLength(750);
    expect([problems.length, problems.at(-1)]).toEqual([
      51,
      "INVALID s: 1200 more values are wrong, and left out",
    ]);
  });

  it("what is no object at all is empty", () => {
    for (const value of [null, [], "x"]) {
      const { settings, problems } = parseSettings(value, "s");
      expect([settings, problems.length]).toEqual([{}, 1]);
    }
  });
});
