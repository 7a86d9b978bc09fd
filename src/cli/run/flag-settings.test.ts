/** --settings of a run and of a new session. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseFlags, RUN_FLAGS } from "../args.ts";
import { FakeDaemon, Feed } from "../testing/fake-daemon.ts";
import { crux } from "../testing/run-command.ts";
import { flagSettings } from "./flag-settings.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-flag-settings-"));
});
afterAll(() => rmSync(dir, { recursive: true }));

function file(content: unknown, name = "run.json"): string {
  writeFileSync(join(dir, name), typeof content === "string" ? content : JSON.stringify(content));
  return name;
}

const read = (given: string) => flagSettings(parseFlags(["--settings", given], RUN_FLAGS), dir);

const WHOLE = {
  $schema: "x",
  model: "opus",
  permissions: { allow: ["bash(npm test)"], ask: ["edit"], deny: ["fetch"], defaultMode: "acceptEdits" },
  defaults: { maxSteps: 7 },
  budget: { tokens: 900, usd: 2, wallMs: 60_000, depth: 0 },
};

test("flagSettings() takes rules and the values that are for one run, from a file or as JSON", () => {
  const taken = {
    rules: { allow: ["bash(npm test)"], ask: ["edit"], deny: ["fetch"] },
    model: "opus",
    maxSteps: 7,
    mode: "accept_edits",
    limits: { tokens: 900, usd: 2, wall_ms: 60_000, depth: 0 },
  };
  expect(read(file(WHOLE))).toEqual(taken);
  expect(read(JSON.stringify(WHOLE))).toEqual(taken);
  expect(read(file({}))).toEqual({ rules: {}, limits: {} });
  expect(read(file({ maxBudgetUsd: 3 }))).toEqual({ rules: {}, limits: { usd: 3 } });
});

test.each([
  [{ sandbox: { mode: "off" } }, "run.json: sandbox is not taken from --settings"],
  [{ labels: { outward: "off" } }, "run.json: labels is not taken"],
  [{ secrets: {} }, "run.json: secrets is not taken"],
  [{ permissions: { drop_defaults: ["bash(curl:*)"] } }, "run.json: permissions.drop_defaults is not taken"],
  [{ permissions: { denny: ["bash"] } }, "did you mean permissions.deny?"],
  [{ permissions: { deny: "bash" } }, "run.json: permissions.deny must be a list of texts"],
  [{ permissions: { deny: ["bash", 3] } }, "run.json: permissions.deny.1 must be text"],
  [{ permissions: [] }, "run.json: permissions must be an object"],
  [{ permissions: { defaultMode: "yolo" } }, "permissions.defaultMode is not a mode: yolo"],
  [{ permissions: { defaultMode: "bypassPermissions" } }, "permissions.defaultMode cannot be bypass"],
  [{ model: 3 }, "run.json: model must be text"],
  [{ defaults: { maxSteps: 0 } }, "defaults.maxSteps must be a whole number from 1"],
  [{ budget: { usd: -1 } }, "budget.usd must be an amount"],
  [[], "run.json: the settings must be an object"],
  ["{ not json", "run.json: not JSON"],
])("%j is refused: %s, and nothing is started", async (content, words) => {
  const daemon = new FakeDaemon({});
  const { err, code } = await crux(`--settings ${join(dir, file(content))} hello`, { daemon });
  expect([code, err]).toEqual([1, expect.stringContaining("[INVALID]")]);
  expect(err).toContain(words);
  expect(daemon.asked).toEqual([]);
});

test("what is no file of at most 1 MiB is refused", () => {
  mkdirSync(join(dir, "folder"), { recursive: true });
  expect(() => read("folder")).toThrow("not a regular file");
  expect(() => read("nowhere.json")).toThrow(/settings not found: .*nowhere\.json/);
  const big = file(`{"model": "${"x".repeat(1024 * 1024)}"}`, "big.json");
  expect(() => read(big)).toThrow("over 1048576 bytes");
});

const line = { type: "complete", payload: { event: "complete", pid: 1, result: "", exit_code: 0 } } as const;
const daemonOf = () => new FakeDaemon({ spawn: () => ({ pid: 1 }) }, new Feed().push(line).end());

test("run sends its rules apart from those of --allow, and a flag stands above it", async () => {
  const path = join(dir, file(WHOLE));
  const daemon = daemonOf();
  await crux(`--settings ${path} --allow edit -m haiku --max-usd 1 --budget 50 --timeout 9 hi`, { daemon });
  expect(daemon.asked).toEqual([
    [
      "spawn",
      {
        intent: "hi",
        model: "haiku",
        max_steps: 7,
        budget: 50,
        limits: { usd: 1, wall_ms: 60_000, depth: 0 },
        timeout_ms: 9_000,
        permission_mode: "accept_edits",
        allow: ["edit"],
        settings: { allow: ["bash(npm test)"], ask: ["edit"], deny: ["fetch"] },
        cwd: "/home/me/project",
        env: {},
        verbose: true,
      },
    ],
  ]);
});
