import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findKeychain, type Keychain } from "./keychain.ts";

const SECRET = "sk-planted $(x) 'y\" 4711";
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux keychain "));
  mkdirSync(join(dir, "bin"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** What the real programs do, with a file for each account; every start is noted with its arguments and environment. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "secret-tool": `case $1 in
store) cat > "$HOME/kept" ;;
lookup) [ -f "$HOME/kept" ] && cat "$HOME/kept" ;;
clear) rm "$HOME/kept" ;;
esac`,
  security: `case $1 in
-i) read -r _ _ _ _ _ _ _ hex; printf %b "$(echo "$hex" | sed 's/../\\\\x&/g')" > "$HOME/kept" ;;
find-generic-password) [ -f "$HOME/kept" ] && cat "$HOME/kept" && echo ;;
delete-generic-password) rm "$HOME/kept" ;;
esac`,
};

function fake(program: string, script = PROGRAMS[program]): void {
  const note = `{ echo "$0" "$@"; env; } >> "$HOME/started"`;
  writeFileSync(join(dir, "bin", program), `#!/bin/bash\n${note}\n${script}\n`);
  chmodSync(join(dir, "bin", program), 0o755);
}

function opened(platform: NodeJS.Platform, before = ""): Keychain {
  const env = {
    PATH: `${before}${join(dir, "bin")}:/usr/bin:/bin`,
    HOME: dir,
    DBUS_SESSION_BUS_ADDRESS: "unix:",
    SECRET,
  };
  const found = findKeychain(env, platform);
  if (found === undefined) throw new Error("no keychain");
  return found;
}

test.each([
  ["linux", "secret-tool"],
  ["darwin", "security"],
] as const)(
  "on %s %s keeps a secret, which no argument and no environment has",
  async (platform, program) => {
    fake(program);
    const keychain = opened(platform);
    expect(keychain.read("openai")).toBeUndefined();
    expect(await keychain.store("openai", SECRET)).toBe(true);
    expect(keychain.read("openai")).toBe(SECRET);
    const started = readFileSync(join(dir, "started"), "utf8");
    expect(started).toContain("openai");
    expect(started).not.toContain("planted");
    expect(started).not.toContain(Buffer.from("planted").toString("hex"));
    await keychain.remove("openai");
    expect(keychain.read("openai")).toBeUndefined();
  },
);

test("a program that lies in a folder of packages is not started", () => {
  fake("secret-tool");
  const packages = join(dir, "node_modules/.bin");
  mkdirSync(packages, { recursive: true });
  writeFileSync(join(packages, "secret-tool"), "#!/bin/sh\necho planted\n", { mode: 0o755 });
  writeFileSync(join(dir, "kept"), SECRET);
  expect(opened("linux", `${packages}:`).read("openai")).toBe(SECRET);
});

test.each([
  ["is missing", undefined],
  ["refuses", "exit 1"],
  ["takes it and has it not", "cat > /dev/null"],
  ["reads nothing", "exit 0"],
])("a program that %s keeps nothing", async (_how, script) => {
  if (script !== undefined) fake("secret-tool", script);
  const keychain = opened("linux");
  expect(await keychain.store("openai", SECRET)).toBe(false);
  expect(keychain.read("openai")).toBeUndefined();
});

test("findKeychain() is none where nobody is at a desktop, or the system has none", () => {
  expect(findKeychain({ XDG_RUNTIME_DIR: dir }, "linux")).toBeUndefined();
  expect(findKeychain({ DBUS_SESSION_BUS_ADDRESS: "unix:" }, "win32")).toBeUndefined();
  writeFileSync(join(dir, "bus"), "");
  expect(findKeychain({ XDG_RUNTIME_DIR: dir }, "linux")).toBeDefined();
});
