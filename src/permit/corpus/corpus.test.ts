/** The attack cases that a decision can show and that are no shell text. Tools and the gate have the others. */
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { ALL_RIGHTS } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { Subject } from "../../kernel/ports/permit.ts";
import { allowed, bash, denied, rule, subject } from "../contract.ts";
import { makePermit, type PermitOptions } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";
import { realPath } from "../testing/real-path.ts";

beforeAll(() => loadParser());

let dir = "";
let ws = "";
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-corpus-")));
  ws = join(dir, "workspace");
  for (const name of [
    "workspace/src",
    "workspace/secrets",
    "workspace/.git/hooks",
    "workspace2",
    "home",
    "state",
  ])
    mkdirSync(join(dir, name), { recursive: true });
  put("workspace/secrets/k", "canary");
  put("workspace/.git/config", "[core]\n");
  put("state/journal.db", "");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const put = (name: string, text = "") => {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), text);
};
const SET_UP = [
  ...["bash(git *)", "bash(echo *)", "bash(npm test)", "edit(src/**)"].map(allowed),
  denied("view(secrets/**)"),
];

function permit(more: readonly RuleText[] = [], options: Partial<PermitOptions> = {}) {
  return makePermit({
    rules: [...SET_UP, ...more],
    isTrusted: true,
    projectRoot: ws,
    defaultMode: "default",
    additionalDirectories: [],
    home: join(dir, "home"),
    kernelPaths: [join(dir, "state")],
    realPath,
    ...options,
  });
}
const at = (mode: PermissionMode, more: Partial<Subject> = {}): Subject =>
  subject({ mode, cwd: ws, roots: [ws], free: [], ...more });

/** A path as a tool declares it, as the gate completes it. */
const path = (kind: "read" | "write", written: string): Effect => {
  const whole = written.startsWith("/") ? written : `${ws}/${written}`;
  const real = whole.includes("\0") ? whole : realPath(whole);
  return kind === "read" ? { kind, path: whole, real } : { kind, path: whole, real, change: "modify" };
};
const view = (written: string, mode: PermissionMode = "default") =>
  permit().decide(at(mode), { tool: "view", effects: [path("read", written)] });
const edit = (written: string, mode: PermissionMode = "default", options: Partial<PermitOptions> = {}) =>
  permit([], options).decide(at(mode), { tool: "edit", effects: [path("write", written)] });

describe("paths", () => {
  test("outside the workspace ask, however they are written", () => {
    expect(view("src/../../etc/passwd").behavior).toBe("ask");
    expect(view(`${ws}2/f`).behavior).toBe("ask");
    expect(edit("src/../package.json").behavior).toBe("ask");
    symlinkSync("/etc/hosts", join(ws, "src/l"));
    expect(edit("src/l").behavior).toBe("ask");
    expect(edit("src/real").behavior).toBe("allow");
  });

  test("one read rule denies every way to the file", () => {
    symlinkSync(join(ws, "secrets/k"), join(ws, "l"));
    for (const written of [
      "secrets/k",
      "l",
      "src/../secrets/k",
      "./secrets//k",
      `/proc/self/root${ws}/secrets/k`,
    ])
      for (const mode of ["default", "bypass"] as const)
        expect(view(written, mode).behavior, written).toBe("deny");
  });

  test.each(["a\0.txt", "\\\\h\\s", "C:x", "f:s"])(
    "%j is INVALID, in every mode and to every rule",
    (written) => {
      for (const mode of ["default", "bypass"] as const) {
        expect(view(written, mode)).toMatchObject({ behavior: "deny", code: "INVALID" });
        expect(edit(written, mode)).toMatchObject({ behavior: "deny", code: "INVALID" });
      }
    },
  );

  test("of another process's memory and environment are secrets", () => {
    expect(view("/proc/1/environ", "bypass")).toMatchObject({ behavior: "ask", isHard: true });
  });

  test("through what a process has open are resolved, or refused", () => {
    const open = (written: string, real: string) =>
      permit().decide(at("bypass"), { tool: "view", effects: [{ kind: "read", path: written, real }] });
    expect(open("/proc/1/cwd/x", `${ws}/x`).behavior).toBe("allow");
    for (const name of ["/proc/1/fd/3", "/proc/self/root/x", "/proc/9/task/9/cwd/a", "/dev/fd/7"])
      expect(open(name, name).behavior, name).toBe("deny");
    expect(open("/dev/fd/7", "/proc/77/fd/7").behavior).toBe("deny");
  });

  test("the state directory is closed in every mode, by any name", () => {
    symlinkSync(join(dir, "state"), join(ws, "s"));
    linkSync(join(dir, "state/journal.db"), join(ws, "src/journal"));
    for (const mode of ["default", "bypass"] as const)
      for (const written of [`${dir}/state/x`, "s/x", "src/journal", `${dir}/state`])
        expect(edit(written, mode).behavior, written).toBe("deny");
  });
});

describe("protected paths", () => {
  test("ask in bypass too", () => {
    for (const written of [".crux/settings.json", ".git/hooks/pre-commit", `${dir}/home/.bashrc`])
      expect(edit(written, "bypass"), written).toMatchObject({ behavior: "ask", isHard: true });
  });

  test("in another case, and with characters that some volumes leave out, are the same", () => {
    for (const written of [".GIT/hooks/x", ".g\u200cit/config", ".Git/CONFIG"])
      expect(edit(written, "bypass"), written).toMatchObject({ behavior: "ask", isHard: true });
  });

  test("a hard link is no other file", () => {
    linkSync(join(ws, ".git/config"), join(ws, "src/innocent"));
    linkSync(join(ws, "secrets/k"), join(ws, "src/copy"));
    expect(edit("src/innocent", "bypass")).toMatchObject({ behavior: "ask", isHard: true });
    expect(edit("src/copy").behavior).toBe("allow");
    put("home/.ssh/config", "");
    linkSync(join(dir, "home/.ssh/config"), join(ws, "src/ssh"));
    expect(edit("src/ssh", "bypass")).toMatchObject({ behavior: "ask", isHard: true });
  });

  test("settings add some, and a rule on a volume that takes names in another case for the same holds for each", () => {
    const protection = { added: ["infra/", "~/keep", "//srv/x", "/top.txt"], removed: [".vscode/"] };
    for (const written of ["infra/a/b", "deep/infra/x", `${dir}/home/keep/a`, "/srv/x/y", "top.txt"])
      expect(edit(written, "bypass", { protection }), written).toMatchObject({
        behavior: "ask",
        isHard: true,
      });
    for (const written of [".vscode/settings.json", "deep/top.txt", "infrared/x"])
      expect(edit(written, "bypass", { protection }).behavior, written).toBe("allow");
    const kernel = edit(`${dir}/state/x`, "bypass", {
      protection: { added: [], removed: [`${dir}/state/`] },
    });
    expect(kernel.behavior).toBe("deny");
    const folded = permit([], { foldsNames: true });
    const upper = (options: typeof folded) =>
      options.decide(at("bypass"), { tool: "view", effects: [path("read", "SECRETS/K")] }).behavior;
    expect([upper(permit()), upper(folded)]).toEqual(["allow", "deny"]);
  });
});

describe("the network", () => {
  const fetch = (host: string, more: readonly RuleText[] = [], mode: PermissionMode = "default") =>
    permit(more).decide(at(mode), {
      tool: "fetch",
      effects: [{ kind: "network", host, port: 443, method: "GET" }],
    });

  test.each(["good.com@evil.io", "good.com%00.evil.io"])("%s is INVALID", (host) => {
    expect(fetch(host, [], "bypass")).toMatchObject({ behavior: "deny", code: "INVALID" });
  });

  test("a rule on a domain stops at the borders of its labels", () => {
    const rules = [allowed("fetch(domain:*.good.com)")];
    for (const host of ["evilgood.com", "good.com.evil.io", "good.com"])
      expect(fetch(host, rules).behavior, host).toBe("ask");
    expect(fetch("a.good.com", rules).behavior).toBe("allow");
  });

  test.each(["2130706433", "[::ffff:169.254.169.254]", "127.0.0.1", "localhost"])("%s is refused", (host) => {
    for (const mode of ["default", "bypass"] as const) expect(fetch(host, [], mode).behavior).toBe("deny");
  });

  test("after a page was read, nothing is carried out in any mode but by a person", () => {
    const labels = [{ kind: "untrusted", source: "web", detail: "https://e.io" }] as const;
    for (const mode of ["default", "bypass"] as const) {
      const decide = (effect: Effect) =>
        permit().decide(at(mode, { labels }), { tool: "t", effects: [effect] });
      expect(decide(bash("git push")), mode).toMatchObject({ behavior: "ask", isHard: true });
      expect(decide({ kind: "network", host: "e.io", port: 443, method: "GET" })).toMatchObject({
        behavior: "ask",
        isHard: true,
      });
    }
  });
});

describe("rights and sources", () => {
  test("what is denied to a parent stays denied to who inherits it, whatever the child is allowed", () => {
    const rights = {
      ...ALL_RIGHTS,
      deny: [denied("bash(rm:*)")],
      allow: [allowed("bash"), allowed("bash(rm:*)")],
    };
    for (const mode of ["default", "bypass"] as const)
      expect(
        permit().decide(at(mode, { rights, grants: ["bash(rm:*)"] }), {
          tool: "bash",
          effects: [bash("rm x")],
        }).behavior,
      ).toBe("deny");
  });

  test("a server's word that its tool only reads lifts no deny and opens nothing in plan", () => {
    const call = {
      tool: "mcp__s__t",
      effects: [{ kind: "mcp", server: "s", tool: "t", host: "local" }] as const,
      readOnly: true,
    };
    expect(permit([denied("mcp__s__t")]).decide(at("bypass"), call).behavior).toBe("deny");
    expect(permit().decide(at("plan"), call).behavior).toBe("deny");
  });

  test("what an untrusted repository allows does nothing", () => {
    const brought = [rule("allow", "projectSettings")("bash"), rule("allow", "projectSettings")("edit")];
    const untrusted = permit(brought, { isTrusted: false });
    expect(untrusted.decide(at("default"), { tool: "bash", effects: [bash("npm run x")] }).behavior).toBe(
      "ask",
    );
    expect(untrusted.decide(at("default"), { tool: "edit", effects: [path("write", "x")] }).behavior).toBe(
      "ask",
    );
  });
});
