import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CredentialFile } from "./credentials.ts";

let dir: string;
let warned: string[];
let learned: string[];
const opened = () =>
  new CredentialFile(dir, {
    learn: (secrets) => learned.push(...secrets),
    warn: (words) => warned.push(words),
  });

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-credentials-"));
  [warned, learned] = [[], []];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("what is set is there for the next daemon, for the user alone, and known as a secret", async () => {
  const file = opened();
  await Promise.all([
    file.set("openai", { key: "key-of-openai", baseUrl: "http://127.0.0.1:1" }),
    file.set("xai", { key: "key-of-xai" }),
  ]);
  expect(statSync(file.file).mode & 0o777).toBe(0o600);
  learned = [];
  const next = opened();
  expect(next.list()).toEqual(file.list());
  expect(learned.sort()).toEqual(["key-of-openai", "key-of-xai"]);
  expect([await next.remove("xai"), await next.remove("xai")]).toEqual([true, false]);
  expect(readFileSync(file.file, "utf8")).not.toContain("key-of-xai");
});

test("complete() leaves a driver alone whose key or server the environment names", async () => {
  const file = opened();
  await file.set("anthropic", { key: "key-stored", baseUrl: "http://127.0.0.1:1" });
  const full = { PATH: "/bin", ANTHROPIC_API_KEY: "key-stored", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" };
  expect(file.complete({ PATH: "/bin" })).toEqual(full);
  for (const name of ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"])
    expect(file.complete({ [name]: "own" })).toEqual({ [name]: "own" });
});

test("a file that others can read is closed to them; a link or damage counts as empty, and is reported", () => {
  const path = join(dir, "credentials.json");
  writeFileSync(path, JSON.stringify({ openai: { key: "key-of-openai" }, nobody: { key: "x" } }));
  chmodSync(path, 0o644);
  expect(opened().list()).toEqual([["openai", { key: "key-of-openai" }]]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, "{");
  expect([opened().list(), warned.length]).toEqual([[], 1]);
  rmSync(path);
  symlinkSync("/etc/passwd", path);
  expect([opened().list(), warned.length]).toEqual([[], 2]);
});
