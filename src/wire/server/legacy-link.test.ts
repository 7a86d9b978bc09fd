import { existsSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ServerFixture } from "./testing/fixture.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-legacy-"));
  path = join(dir, "kernel.sock");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function served(): Promise<ServerFixture> {
  const fixture = new ServerFixture();
  fixture.options = { legacyPath: path };
  return fixture.start();
}

it("the fixed path names the socket while the server runs; what a killed one left is taken over", async () => {
  let fixture = await served();
  expect(readlinkSync(path)).toBe(fixture.socketPath);
  await fixture.close();
  expect(existsSync(path)).toBe(false);
  fixture = new ServerFixture();
  symlinkSync(fixture.socketPath, path);
  fixture.options = { legacyPath: path };
  await fixture.start();
  await fixture.close();
  expect(() => readlinkSync(path)).toThrow("ENOENT");
});

it("what is there stays, and the server runs", async () => {
  writeFileSync(path, "another's");
  const fixture = await served();
  await fixture.close();
  expect(existsSync(path)).toBe(true);
});
