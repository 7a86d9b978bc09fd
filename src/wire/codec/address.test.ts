import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkPrivateDir, checkSocketPath, findSocketPath, homeOf } from "./address.ts";

const uid = process.getuid?.() ?? 0;
let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-address-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("checkSocketPath()", () => {
  it("refuses more than 107 bytes, counted in UTF-8", () => {
    checkSocketPath(`/${"x".repeat(106)}`);
    expect(() => checkSocketPath(`/${"x".repeat(107)}`)).toThrow(
      expect.objectContaining({ code: "INVALID" }),
    );
    expect(() => checkSocketPath(`/${"分".repeat(36)}`)).toThrow("109 bytes");
  });
});

describe("findSocketPath()", () => {
  const found = (env: Record<string, string>, shared: string) => findSocketPath(env, 7, "/home/u", shared);

  it("is what the environment names, whatever can be written", () => {
    expect(found({ XDG_RUNTIME_DIR: "/run/user/7" }, "/none")).toBe("/run/user/7/crux/crux.sock");
    expect(found({ CRUX_SOCKET: "/x/s", XDG_RUNTIME_DIR: "/run/user/7" }, "/none")).toBe("/x/s");
  });

  it("is in the shared folder, and beside the state where that cannot be written", () => {
    expect(found({}, dir)).toBe(`${dir}/crux-7/crux.sock`);
    expect(found({}, join(dir, "none"))).toBe("/home/u/.local/state/crux/run/crux.sock");
    expect(found({ XDG_STATE_HOME: "/state" }, join(dir, "none"))).toBe("/state/crux/run/crux.sock");
  });

  it("stays with a socket that is there", () => {
    mkdirSync(join(dir, "crux-7"));
    writeFileSync(join(dir, "crux-7/crux.sock"), "");
    chmodSync(join(dir, "crux-7"), 0o500);
    expect(found({}, dir)).toBe(`${dir}/crux-7/crux.sock`);
    chmodSync(join(dir, "crux-7"), 0o700);
  });
});

describe("homeOf()", () => {
  it("is HOME, else what the system knows", () => {
    expect(homeOf({ HOME: "/x" })).toBe("/x");
    expect(homeOf({ HOME: "" })).toBe(homedir());
    expect(homeOf({ HOME: "x/y" })).toBe(userInfo().homedir);
  });

  it("refuses a HOME that Node cannot read, which names another folder", () => {
    const home = Buffer.from([0x2f, 0x68, 0xff]).toString();
    const fault = { code: "INVALID", hint: expect.stringContaining("export HOME=") };
    expect(() => homeOf({ HOME: home })).toThrow(expect.objectContaining(fault));
  });
});

describe("checkPrivateDir()", () => {
  const refused = (message: string) => expect.objectContaining({ code: "PERMISSION", message });

  it("takes the user's own closed folder, and tells a missing one", () => {
    expect(checkPrivateDir(dir, uid)).toBe("ok");
    expect(checkPrivateDir(join(dir, "none"), uid)).toBe("missing");
  });

  it("refuses symlink, file, open folder and another owner", () => {
    const [link, file, open] = [join(dir, "link"), join(dir, "file"), join(dir, "open")];
    symlinkSync(dir, link);
    writeFileSync(file, "");
    mkdirSync(open);
    chmodSync(open, 0o755);
    expect(() => checkPrivateDir(link, uid)).toThrow(refused(`runtime directory is a symlink: ${link}`));
    expect(() => checkPrivateDir(file, uid)).toThrow(
      refused(`runtime directory is not a directory: ${file}`),
    );
    expect(() => checkPrivateDir(open, uid)).toThrow(
      refused(`runtime directory is open to others (mode 0755): ${open}`),
    );
    expect(() => checkPrivateDir(dir, uid + 1)).toThrow(
      refused(`runtime directory belongs to user ${uid}: ${dir}`),
    );
  });
});
