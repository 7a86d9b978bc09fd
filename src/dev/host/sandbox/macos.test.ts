/** The text alone: only macOS can say what it makes of it. */
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import { seatbeltProfile } from "./macos.ts";
import { Sandboxes } from "./sandbox.ts";

const profile = (fields: Partial<SandboxProfile> = {}): SandboxProfile => ({
  write: ["/ws"],
  protect: ["/ws/.git/hooks/", "/ws/.npmrc"],
  hide: ["/Users/me/.ssh", "/state"],
  show: ["/state/run/own.sock"],
  network: "off",
  ...fields,
});

function linesOf(fields: Partial<SandboxProfile> = {}): readonly string[] {
  return seatbeltProfile(profile(fields), "/private/tmp/own").split("\n");
}

describe("seatbeltProfile()", () => {
  it("refuses what is not named, and lets the host be read", () => {
    expect(linesOf().slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
    expect(linesOf()).toContain("(allow file-read*)");
  });

  it("puts the rule of a deeper place behind that of a higher one", () => {
    const lines = linesOf();
    const at = (line: string) => {
      const found = lines.indexOf(line);
      expect([line, found]).not.toEqual([line, -1]);
      return found;
    };
    const write = at('(allow file-read* file-write* (subpath "/ws"))');
    expect(at('(deny file-write* (subpath "/ws/.git/hooks"))')).toBeGreaterThan(write);
    expect(at('(deny file-write* (subpath "/ws/.npmrc"))')).toBeGreaterThan(write);
    const hidden = at('(deny file-read* file-write* (subpath "/state"))');
    expect(at('(allow file-read* (subpath "/state/run/own.sock"))')).toBeGreaterThan(hidden);
    expect(at('(allow file-read* file-write* (subpath "/private/tmp/own"))')).toBeGreaterThan(0);
  });

  it("keeps what lies above a protected path from being moved, up to the root", () => {
    const steps = linesOf().filter((line) => line.startsWith("(deny file-write-unlink"));
    expect(steps).toEqual(
      ["/ws/.git/hooks", "/ws/.git", "/ws/.npmrc"].map(
        (path) => `(deny file-write-unlink (literal "${path}"))`,
      ),
    );
  });

  it("has no network but the sockets that are shown, with allowed hosts neither", () => {
    for (const network of ["off", { allow: ["a.example"], deny: [] }] as const)
      expect(linesOf({ network }).filter((line) => line.includes("network"))).toEqual([
        '(allow network-outbound (remote unix-socket (path-literal "/state/run/own.sock")))',
      ]);
    expect(linesOf({ network: "host" })).toContain("(allow network*)");
  });

  it("writes names so that they end no rule, and refuses what it cannot write", () => {
    const odd = String.raw`/ws/a") (allow network*) ("\x`;
    expect(linesOf({ write: [odd] })).toContain(
      String.raw`(allow file-read* file-write* (subpath "/ws/a\") (allow network*) (\"\\x"))`,
    );
    expect(() => linesOf({ hide: ["/ws/a\n(allow network*)"] })).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE" }),
    );
  });
});

it("Sandboxes of macOS start a program by sandbox-exec, with a folder of its own that goes with it", () => {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "crux-macos-")));
  onTestFinished(() => rmSync(own, { recursive: true, force: true }));
  const sandboxes = new Sandboxes({ dir: join(own, "sb"), kind: "seatbelt" });
  const what = {
    id: "x1",
    profile: profile(),
    argv: ["/bin/echo", "a b"] as const,
    cwd: own,
    env: { A: "1" },
  };
  const { argv, options, env, filterFd, end } = sandboxes.confine(what);
  expect([argv[0], argv[1], ...argv.slice(3)]).toEqual(["/usr/bin/sandbox-exec", "-p", "/bin/echo", "a b"]);
  expect([options, filterFd, env.A]).toEqual([[], undefined, "1"]);
  const tmp = env.TMPDIR ?? "";
  expect(argv[2]).toContain(`(allow file-read* file-write* (subpath "${tmp}"))`);
  expect(existsSync(tmp)).toBe(true);
  expect(end()).toEqual([]);
  expect(readdirSync(join(own, "sb"))).toEqual([]);
  sandboxes.close();
});
