import { describe, expect, test } from "vitest";
import { findProtection, findProtectionBelow, protections } from "./protected.ts";

const all = protections("/home/u", (path) => path);
const kindOf = (access: "read" | "write", path: string) => findProtection(all, access, path)?.kind;

describe("findProtection()", () => {
  test.each([
    ["/ws/.crux/settings.json", "authority"],
    ["/ws/.claude/settings.local.json", "authority"],
    ["/ws/.claude/worktrees/a/.claude/agents/x.md", "authority"],
    ["/ws/a/.mcp.json", "authority"],
    ["/home/u/.config/crux/agents/x.md", "authority"],
    ["/xdg/crux/settings.json", "authority"],
    ["/ws/.git", "execution"],
    ["/ws/.git/hooks/pre-commit", "execution"],
    ["/ws/.git/modules/x/config", "execution"],
    ["/ws/.git/logs/.git/config", "execution"],
    ["/ws/.GIT/Config", "execution"],
    ["/ws/.g\u200cit/config", "execution"],
    ["/ws/a/../.git/config", "execution"],
    ["/ws/.husky/pre-push", "execution"],
    ["/ws/.yarnrc.yml", "execution"],
    ["/home/u/.bashrc", "execution"],
    ["/home/u/.ſsh/authorized_keys", "execution"],
    ["/home/u/.ssh/authorized_keys", "execution"],
    ["/home/u/.local/bin/x", "execution"],
    ["/etc/hosts", "execution"],
    ["/usr/lib/x", "execution"],
  ])("writing %s concerns %s", (path, kind) => {
    expect(kindOf("write", path)).toBe(kind);
  });

  test.each([
    "/ws/.git/index",
    "/ws/.git/objects/00/1",
    "/ws/.git/HEAD",
    "/ws/.gitignore",
    "/ws/.github/workflows/x.yml",
    "/ws/x.git/a",
    "/ws/.claude/worktrees/a/src/x.ts",
    "/ws/.env",
    "/ws/a/.bashrc",
    "/home/u/.config/crux/memory/a.md",
    "/etcetera/x",
    "/ws/etc/hosts",
  ])("writing %s is a write like any other", (path) => {
    expect(kindOf("write", path)).toBeUndefined();
  });

  test.each([
    "/ws/.env",
    "/ws/.ENV",
    "/ws/a/.env.local",
    "/ws/server.pem",
    "/home/u/.ssh/id_ed25519",
    "/home/u/.aws/credentials",
    "/home/u/.docker/config.json",
    "/home/u/Library/Application Support/Google/Chrome/Default/Cookies",
    "/proc/1/environ",
    "/proc/1/task/1/mem",
  ])("reading %s reads a secret", (path) => {
    expect(kindOf("read", path)).toBe("secret");
  });

  test.each([
    "/ws/.env.example",
    "/ws/.env.production.sample",
    "/ws/.env/lib/x.py",
    "/ws/.environment",
    "/ws/.git/config",
    "/home/u/.ssh/config",
    "/ws/.aws/credentials",
    "/proc/1/status",
  ])("reading %s does not", (path) => {
    expect(kindOf("read", path)).toBeUndefined();
  });

  test("holds for what a protected name at the top of the project is a link to", () => {
    const links = new Map([
      ["/ws/.vscode", "/ws/conf"],
      ["/ws/.envrc", "/ws/env.sh"],
      ["/ws/.git", "/ws/store"],
    ]);
    const linked = protections("/home/u", (path) => links.get(path) ?? path, { projectRoot: "/ws" });
    expect(findProtection(linked, "write", "/ws/conf/tasks.json")?.kind).toBe("execution");
    expect(findProtection(linked, "write", "/ws/env.sh")?.kind).toBe("execution");
    expect(findProtectionBelow(linked, "/ws/conf")?.kind).toBe("execution");
    for (const path of ["/ws/config", "/ws/env.sh/x", "/ws/store/index"])
      expect(findProtection(linked, "write", path)).toBeUndefined();
  });

  test("holds for what a protected place is a link to", () => {
    const linked = protections("/home/u", (path) => path.replace("/home/u/.bashrc", "/ws/dotfiles/bashrc"));
    expect(findProtection(linked, "write", "/ws/dotfiles/bashrc")?.kind).toBe("execution");
    expect(findProtection(linked, "write", "/home/u/.bashrc")?.kind).toBe("execution");
  });

  test("a place that cannot be resolved stays protected as written", () => {
    const broken = protections("/home/u", () => {
      throw new Error("too many symbolic links");
    });
    expect(findProtection(broken, "write", "/home/u/.ssh/config")?.kind).toBe("execution");
  });
});

test("findProtectionBelow() finds what goes with a directory", () => {
  expect(findProtectionBelow(all, "/home/u/.config")).toBeDefined();
  expect(findProtectionBelow(all, "/home")).toBeDefined();
  expect(findProtectionBelow(all, "/home/u/src")).toBeUndefined();
});

describe("protections()", () => {
  test("looks at all its places at one moment", () => {
    const links = new Map([["/home/u/.aws", "/vault/aws"]]);
    const look = (path: string) => links.get(path) ?? path;
    const realPath = Object.assign(
      (path: string): string => {
        throw new Error(`looked at alone: ${path}`);
      },
      { atOnce: () => look },
    );
    const found = protections("/home/u", realPath, { projectRoot: "/ws" });
    expect(findProtection(found, "read", "/vault/aws/credentials")?.kind).toBe("secret");
  });
});
