import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asPid } from "../abi/ids.ts";
import { realPath } from "../dev/host/real-path.ts";
import type { Subject } from "../kernel/ports/permit.ts";
import type { BroughtFile } from "../kernel/ports/trust.ts";
import { Policies } from "./policies.ts";
import { findProjectRoot } from "./settings/sources.ts";

let dir = "";
let trusted: (root: string, files: readonly BroughtFile[]) => boolean;
let told: string[];
let policies: Policies;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-policies-")));
  for (const name of ["config", "etc", "home", "ws/sub", "ws/.git"])
    mkdirSync(join(dir, name), { recursive: true });
  trusted = () => false;
  told = [];
  const places = {
    configDir: join(dir, "config"),
    policyDir: join(dir, "etc"),
    policyOwner: process.getuid?.() ?? 0,
    home: join(dir, "home"),
  };
  policies = new Policies({
    places,
    kernelPaths: [join(dir, "state")],
    skillPaths: [],
    realPath,
    trust: { isTrusted: (root, files) => trusted(root, files) },
    warn: (line) => void told.push(line),
  });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Time moves on with each write: an edit within one tick of the clock of the disk is another inode or size all the same. */
function put(name: string, value: unknown): void {
  const path = join(dir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
}
const rules = (permissions: object) => ({ permissions });

function decide(effectPath: string, at = "ws", tool = "view") {
  const cwd = join(dir, at);
  const subject: Subject = {
    pid: asPid(1),
    mode: "default",
    cwd,
    roots: [cwd],
    allowedDevices: null,
    grants: [],
  };
  const path = join(dir, effectPath);
  return policies.of(cwd).permit.decide(subject, { tool, effects: [{ kind: "read", path, real: path }] });
}

describe("Policies", () => {
  it("unites user, project, local and policy rules; a deny of any holds", () => {
    for (const name of [
      "config/settings.json",
      "ws/.claude/settings.json",
      "ws/.crux/settings.json",
      "ws/.crux/settings.local.json",
      "etc/settings.json",
      "etc/settings.d/50-x.json",
    ]) {
      expect(decide("ws/a.txt").behavior, name).toBe("allow");
      put(name, rules({ deny: ["view(a.txt)"] }));
      expect(decide("ws/a.txt").behavior, name).toBe("deny");
      rmSync(join(dir, name));
    }
    expect(decide("ws/a.txt").behavior).toBe("allow");
  });

  it("sees a change at the next call, also one that keeps size and time", () => {
    put("config/settings.json", rules({ deny: ["view(a.txt)"] }));
    const now = new Date(1_700_000_000_000);
    utimesSync(join(dir, "config/settings.json"), now, now);
    expect([decide("ws/a.txt").behavior, decide("ws/b.txt").behavior]).toEqual(["deny", "allow"]);
    put("config/settings.json", rules({ deny: ["view(b.txt)"] }));
    utimesSync(join(dir, "config/settings.json"), now, now);
    expect([decide("ws/a.txt").behavior, decide("ws/b.txt").behavior]).toEqual(["allow", "deny"]);
  });

  it("makes one policy for a project, and keeps it while nothing changes", () => {
    const { permit, root } = policies.of(join(dir, "ws/sub"));
    expect(root).toBe(join(dir, "ws"));
    expect(policies.of(join(dir, "ws")).permit).toBe(permit);
    expect(policies.of(join(dir, "home")).permit).not.toBe(permit);
  });

  it("lets a project allow only once it is trusted with these very files", () => {
    put("ws/.crux/settings.json", rules({ allow: ["view(//**)"], additionalDirectories: ["../more"] }));
    expect([decide("home/x").behavior, decide("more/x").behavior]).toEqual(["ask", "ask"]);
    const seen: (readonly BroughtFile[])[] = [];
    trusted = (root, files) => {
      seen.push(files);
      return root === join(dir, "ws");
    };
    expect([decide("home/x").behavior, decide("more/x").behavior]).toEqual(["allow", "allow"]);
    expect(seen[0]).toEqual([
      {
        path: join(dir, "ws/.crux/settings.json"),
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        narrows: false,
      },
    ]);
    trusted = () => false;
    expect(decide("home/x").behavior).toBe("ask");
  });

  it("asks about everything while a file cannot be read in full", () => {
    put("ws/.crux/settings.json", '{"permissions": {"deny": ["vi');
    expect(decide("ws/a.txt")).toMatchObject({ behavior: "ask", isHard: true });
    rmSync(join(dir, "ws/.crux/settings.json"));
    mkdirSync(join(dir, "ws/.crux/settings.json"));
    expect(decide("ws/a.txt").behavior).toBe("ask");
    rmSync(join(dir, "ws/.crux/settings.json"), { recursive: true });
    expect(decide("ws/a.txt").behavior).toBe("allow");
  });

  it("refuses everything while the policy cannot be trusted or read", () => {
    put("etc/settings.json", rules({ deny: [] }));
    expect(decide("ws/a.txt").behavior).toBe("allow");
    const broken: [string, () => void][] = [
      ["group-writable file", () => chmodSync(join(dir, "etc/settings.json"), 0o664)],
      ["world-writable folder", () => chmodSync(join(dir, "etc"), 0o757)],
      ["no JSON", () => put("etc/settings.d/1.json", "{")],
      ["wrong type", () => put("etc/settings.d/1.json", { permissions: { deny: [7] } })],
      ["malformed rule", () => put("etc/settings.d/1.json", rules({ allow: ["bash("] }))],
    ];
    for (const [what, spoil] of broken) {
      spoil();
      expect(decide("ws/a.txt").behavior, what).toBe("deny");
      chmodSync(join(dir, "etc"), 0o755);
      chmodSync(join(dir, "etc/settings.json"), 0o644);
      rmSync(join(dir, "etc/settings.d"), { recursive: true, force: true });
      expect(decide("ws/a.txt").behavior, what).toBe("allow");
    }
  });

  it("closes the policy's own folder to every call", () => {
    put("etc/settings.json", rules({}));
    expect(decide("etc/settings.json")).toMatchObject({ behavior: "deny", reason: { kind: "protected" } });
  });

  it("tells what is wrong once, not with each call", () => {
    put("config/settings.json", rules({ denny: ["bash"], defaultMode: "fast" }));
    for (let i = 0; i < 3; i++) decide("ws/a.txt");
    put("config/settings.json", rules({ denny: ["bash"], defaultMode: "fast", allow: [] }));
    decide("ws/a.txt");
    expect(told).toHaveLength(2);
  });

  it("hands a project's own restrictions on with their paths from the host root", () => {
    put(
      "ws/.crux/settings.json",
      rules({ deny: ["edit(src/**)", "view(~/x)", "bash(rm:*)"], ask: ["view(*.key)"] }),
    );
    put("config/settings.json", rules({ deny: ["bash(dd:*)"] }));
    const { permit } = policies.of(join(dir, "ws"));
    expect(permit.restrictions?.()).toEqual([
      { source: "projectSettings", behavior: "deny", text: `edit(/${dir}/ws/src/**)` },
      { source: "projectSettings", behavior: "deny", text: "view(~/x)" },
      { source: "projectSettings", behavior: "deny", text: "bash(rm:*)" },
      { source: "projectSettings", behavior: "ask", text: "view(*.key)" },
    ]);
  });
});

describe("the folder of memory", () => {
  const memory = () => policies.of(join(dir, "ws")).memory;
  const local = () => {
    const found = memory();
    return found instanceof Error ? found.message : found.local;
  };
  const note = () => join(local().slice(dir.length + 1), "a.md");

  it("is where the user's settings want it, for each project; never where the project wants it", () => {
    trusted = () => true;
    const key = basename(local());
    expect(local()).toBe(join(dir, "config/memory/projects", key));
    put("ws/.crux/settings.json", { autoMemoryDirectory: join(dir, "theirs") });
    put("ws/.crux/settings.local.json", { autoMemoryDirectory: join(dir, "theirs") });
    expect(local()).toBe(join(dir, "config/memory/projects", key));
    put("config/settings.json", { autoMemoryDirectory: "~/notes" });
    expect(local()).toBe(join(dir, "home/notes", key));
    expect(decide(note(), "ws", "write").behavior).toBe("allow");
    expect(decide(note().replace(key, "of-another"), "ws", "write").behavior).toBe("ask");
  });

  it("is not kept in a folder that is closed to agents or holds too much: memory is off, and it says why", () => {
    for (const [place, why] of [
      ["~/.ssh/notes", "is closed to agents"],
      ["~/x/../.gnupg", "is closed to agents"],
      [join(dir, "config/notes"), "is closed to agents"],
      [join(dir, "state"), "is closed to agents"],
      ["~/linked/notes", "is closed to agents"],
      ["notes", "is not an absolute path"],
      ["//server/share", "is a path of a network"],
      ["\\\\server\\share", "is a path of a network"],
      ["~/", "holds your home folder"],
      [dir, "holds your home folder"],
      ["/", "holds your home folder"],
    ] as const) {
      mkdirSync(join(dir, "home/.ssh"), { recursive: true });
      if (!existsSync(join(dir, "home/linked")))
        symlinkSync(join(dir, "home/.ssh"), join(dir, "home/linked"));
      put("config/settings.json", { autoMemoryDirectory: place });
      expect(local(), place).toBe(`autoMemoryDirectory: ${place} ${why}, so memory is off`);
    }
    expect(told.some((line) => line.includes("so memory is off"))).toBe(true);
  });
});

describe("findProjectRoot()", () => {
  it("is the nearest folder with a mark of a project, else the folder itself, never home or what holds it", () => {
    const home = join(dir, "home");
    mkdirSync(join(home, ".claude"));
    mkdirSync(join(home, "p/deep/er"), { recursive: true });
    expect(findProjectRoot(join(dir, "ws/sub"), home)).toBe(join(dir, "ws"));
    expect(findProjectRoot(join(home, "p/deep"), home)).toBe(join(home, "p/deep"));
    mkdirSync(join(home, "p/.crux"));
    expect(findProjectRoot(join(home, "p/deep/er"), home)).toBe(join(home, "p"));
    expect(findProjectRoot(home, home)).toBe(home);
    expect(existsSync(join(home, ".claude"))).toBe(true);
  });
});
