import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { realPath } from "../dev/host/real-path.ts";
import { run, subject, write } from "../permit/contract.ts";
import { Configuration } from "./configuration.ts";

let dir = "";
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-configuration-")));
  for (const part of ["ws/.crux", "other", "config"]) mkdirSync(join(dir, part), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function configurationOf(context: object): Configuration {
  const whole = {
    settings: {},
    paths: { configDir: join(dir, "config"), stateDir: join(dir, "state"), sharedDir: join(dir, "run") },
    ...{ home: join(dir, "home"), env: { XDG_CACHE_HOME: join(dir, "ws/cache") }, log: () => {} },
    ...context,
  };
  return new Configuration(whole as unknown as ConstructorParameters<typeof Configuration>[0], {
    realPath,
    policy: { dir: join(dir, "etc"), owner: 0 },
  });
}

const loopTurn = () => new Promise((resolve) => setImmediate(resolve));

test("settingsIn() has what the folder turns off, from its next change on, and in no other folder", async () => {
  const context = {
    settings: { context: { snip: true, collapse: true } },
  };
  const config = configurationOf(context);
  const ws = join(dir, "ws");
  const folds = (cwd: string) =>
    config.resolver.window?.("/dev/llm/script", "", { env: {}, cwd })?.collapse ?? false;
  expect([config.settingsIn(ws).context?.snip, folds(ws)]).toEqual([true, true]);
  writeFileSync(join(ws, ".crux/settings.json"), '{"context":{"snip":false,"collapse":false}}');
  await loopTurn();
  expect([config.settingsIn(ws).context?.snip, folds(ws)]).toEqual([false, false]);
  expect([config.settingsIn(join(dir, "other")).context?.snip, folds(join(dir, "other"))]).toEqual([
    true,
    true,
  ]);
  config.reload({});
  expect(config.settingsIn(ws).context?.snip).toBe(false);
});

test("permitFor() lets nothing write where compiled code lies, which every command of the user runs", () => {
  const ws = join(dir, "ws");
  const permit = configurationOf({}).permitFor(ws);
  const by = subject({ cwd: ws, roots: [ws], mode: "accept_edits" });
  const behaviorOf = (path: string) => run(permit, "write", [write(join(ws, path))], by).behavior;
  expect(["a.txt", "cache/crux/v24/code"].map(behaviorOf)).toEqual(["allow", "deny"]);
});
