import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { realPath } from "../../dev/host/real-path.ts";
import { settingsDesk } from "./desk.ts";
import { SettingsFiles } from "./writer.ts";

let dir = "";
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-desk-")));
  for (const part of ["ws/.crux", "config"]) mkdirSync(join(dir, part), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function desk(isTrusted = true) {
  const places = {
    ...{ configDir: join(dir, "config"), policyDir: join(dir, "etc") },
    ...{ policyOwner: process.getuid?.() ?? 0, home: join(dir, "home") },
  };
  const trust = { isTrusted: () => true, hasWritten: () => {} };
  const files = new SettingsFiles({ places, realPath, trust, isTrusted: () => true, warn: () => {} });
  return settingsDesk({ places, realPath, files, isTrusted: () => isTrusted, reload: () => {} });
}

test("a folder's settings may turn memory off, and not on", async () => {
  const ws = join(dir, "ws");
  for (const key of ["autoMemoryEnabled", "memory.extract"]) {
    await desk().set(ws, "projectSettings", { key, value: false });
    expect(desk().list(ws, key).settings).toMatchObject([{ source: "project", value: false }]);
    await expect(desk().set(ws, "projectSettings", { key, value: true })).rejects.toMatchObject({
      code: "INVALID",
    });
  }
  writeFileSync(join(ws, ".crux/settings.json"), '{"memory":{"extract":true}}');
  writeFileSync(join(dir, "config/settings.json"), '{"memory":{"extract":false}}');
  expect(desk().list(ws, "memory.extract").settings).toMatchObject([
    { source: "user", value: false },
    { source: "project", value: true, ignored: "project settings can only turn it off" },
  ]);
});

test("a folder's status line counts once the folder is trusted", () => {
  const ws = join(dir, "ws");
  writeFileSync(join(ws, ".crux/settings.json"), '{"statusLine":{"type":"command","command":"touch made"}}');
  const views = (isTrusted: boolean) => desk(isTrusted).list(ws, "statusLine.command").settings;
  expect(views(false)).toMatchObject([{ value: "touch made", ignored: "this folder is not trusted" }]);
  expect(views(true)[0]).not.toHaveProperty("ignored");
});

test("of a limit the least is shown to count: the folder's below the policy's, and the policy's above the user's", () => {
  const ws = join(dir, "ws");
  mkdirSync(join(dir, "etc"));
  const put = (file: string, usd: number) =>
    writeFileSync(join(dir, file), JSON.stringify({ budget: { usd } }), { mode: 0o644 });
  put("config/settings.json", 9);
  put("etc/settings.json", 8);
  const counting = () =>
    desk()
      .list(ws, "budget.usd")
      .settings.flatMap(({ source, ignored }) => (ignored === undefined ? [source] : []));
  expect(counting()).toEqual(["policy"]);
  put("ws/.crux/settings.json", 2);
  expect(counting()).toEqual(["project"]);
  put("etc/settings.json", 1);
  expect(counting()).toEqual(["policy"]);
  put("etc/settings.json", 20);
  put("ws/.crux/settings.json", 5);
  expect(counting()).toEqual(["project"]);
});
