import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CredentialFile } from "./credentials.ts";
import { syncedBy } from "./testing/synced.ts";

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

test("set() keeps aside what it could not read", async () => {
  const path = join(dir, "credentials.json");
  writeFileSync(path, '{"openai": {"key": "key-of-openai"},}', { mode: 0o600 });
  const file = opened();
  await file.set("xai", { key: "key-of-xai" });
  await file.set("gemini", { key: "key-of-gemini" });
  expect(
    opened()
      .list()
      .map(([driver]) => driver)
      .sort(),
  ).toEqual(["gemini", "xai"]);
  expect(readFileSync(`${path}.unread`, "utf8")).toContain("key-of-openai");
  expect(warned.at(-1)).toContain(".unread");
});

test("a file that the host does not give now stays as it is: no key is lost, and it counts again once it is there", async () => {
  await opened().set("openai", { key: "key-of-openai" });
  let isGiven = false;
  const file = new CredentialFile(dir, {
    learn: () => {},
    warn: (words) => warned.push(words),
    readText: (path) => {
      if (isGiven) return readFileSync(path, "utf8");
      throw Object.assign(new Error("EIO: i/o error"), { errno: -5, code: "EIO" });
    },
  });
  expect([file.list(), warned.length]).toEqual([[], 1]);
  await expect(file.set("xai", { key: "key-of-xai" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(readdirSync(dir)).toEqual(["credentials.json"]);
  isGiven = true;
  expect(file.complete({})).toMatchObject({ OPENAI_API_KEY: "key-of-openai" });
  await file.set("xai", { key: "key-of-xai" });
  expect(opened().list()).toHaveLength(2);
});

test("a key that is stored, or removed, outlasts a loss of power: its folder is synced after the file", async () => {
  const synced = await syncedBy(() => opened().set("xai", { key: "key-of-xai" }));
  expect(synced).toEqual([statSync(join(dir, "credentials.json")).ino, statSync(dir).ino]);
});

/** A keychain in memory, as the programs of the system have one. */
function keychain(answers = true) {
  const kept = new Map<string, string>();
  return {
    kept,
    read: (account: string) => (answers ? kept.get(account) : undefined),
    store: async (account: string, secret: string) => {
      if (answers) kept.set(account, secret);
      return answers;
    },
    remove: async (account: string) => void kept.delete(account),
  };
}

test("with a keychain the file has the server alone, and the next daemon reads and learns the key", async () => {
  const chain = keychain();
  const around = { keychain: chain, learn: (all: Iterable<string>) => learned.push(...all), warn: () => {} };
  const file = new CredentialFile(dir, around);
  expect(await file.set("openai", { key: "key-of-openai", baseUrl: "http://127.0.0.1:1" })).toBe("keychain");
  expect(JSON.parse(readFileSync(file.file, "utf8"))).toEqual({
    openai: { place: "keychain", baseUrl: "http://127.0.0.1:1" },
  });
  learned = [];
  const next = new CredentialFile(dir, around);
  expect([next.list(), learned]).toEqual([file.list(), ["key-of-openai"]]);
  expect([await next.remove("openai"), chain.kept.size, next.list()]).toEqual([true, 0, []]);
});

test("while the keychain does not answer its keys are kept and not used, and a new one goes into the file", async () => {
  const first = keychain();
  const silent = keychain(false);
  const around = { learn: () => {}, warn: (words: string) => warned.push(words) };
  await new CredentialFile(dir, { ...around, keychain: first }).set("openai", { key: "key-of-openai" });
  const file = new CredentialFile(dir, { ...around, keychain: silent });
  expect([file.list(), warned]).toEqual([[], [expect.stringContaining("openai is not used")]]);
  expect(await file.set("xai", { key: "key-of-xai" })).toBe("file");
  const again = new CredentialFile(dir, { ...around, keychain: first });
  expect(again.list().map(([driver]) => driver)).toEqual(["openai", "xai"]);
  expect(await file.set("openai", { key: "key-two" })).toBe("file");
  expect(JSON.parse(readFileSync(file.file, "utf8")).openai).toEqual({ key: "key-two" });
  expect(await file.remove("openai")).toBe(true);
});
