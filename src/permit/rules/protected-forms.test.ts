/** A protected file under thousands of names: `..`, links, other cases, composed and decomposed letters. None is written. */
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PERMISSION_MODES } from "../../abi/process.ts";
import type { Permit } from "../../kernel/ports/permit.ts";
import { allowed, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { realPath } from "../testing/real-path.ts";

const FORMS = Number(process.env.CRUX_FUZZ_CASES ?? 10_000);
let dir = "";
let permit: Permit;

beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-forms-")));
  for (const name of ["ws/.git/hooks", "ws/a/b", "ws/é", "home/.ssh"])
    mkdirSync(join(dir, name), { recursive: true });
  writeFileSync(join(dir, "ws/.git/config"), "");
  writeFileSync(join(dir, "home/.ssh/authorized_keys"), "");
  symlinkSync(join(dir, "ws/.git"), join(dir, "ws/a/git"));
  symlinkSync("..", join(dir, "ws/a/up"));
  symlinkSync(join(dir, "ws"), join(dir, "ws/a/b/ws"));
  symlinkSync(join(dir, "home"), join(dir, "ws/h"));
  symlinkSync("hooks/new", join(dir, "ws/.git/to-come"));
  symlinkSync("../.git/to-come", join(dir, "ws/a/to-come"));
  linkSync(join(dir, "ws/.git/config"), join(dir, "ws/a/hard"));
  permit = makePermit({
    rules: ["edit", "edit(**)", "edit(//**)", "write"].map(allowed),
    isTrusted: true,
    projectRoot: join(dir, "ws"),
    defaultMode: "default",
    additionalDirectories: [join(dir, "home")],
    home: join(dir, "home"),
    kernelPaths: [],
    realPath,
  });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Ways to stay where one is, and ways to the workspace. */
const stay = fc.constantFrom(".", "a/..", "a/b/../..", "a/up", "a/up/.", "é/..", "a/b/ws", "h/../ws", "");
const target = fc.constantFrom(
  ...[".git/config", ".git/hooks/x", "a/git/config", "a/git/hooks/pre-push", "a/to-come", "a/hard", ".envrc"],
  ...[
    "h/.ssh/authorized_keys",
    "h/.ssh/new",
    "h/.bashrc",
    "h/.ssh/../.ssh/id",
    ".crux/settings.json",
    ".mcp.json",
  ],
);
const twist = fc.constantFrom<(name: string) => string>(
  (name) => name,
  (name) => name.replace(".git", ".GIT").replace(".ssh", ".Ssh").replace(".envrc", ".ENVRC"),
  (name) => name.replace(".crux", ".cr\u200bux").replace(".git", ".g\u200dit"),
  (name) => name.normalize("NFD"),
  (name) => name.replaceAll("/", "//"),
  (name) => `${name}/.`,
  (name) => `${name}/x/..`,
);

test(`none of ${FORMS} forms of protected files is written without a person, in any mode`, () => {
  fc.assert(
    fc.property(
      fc.array(stay, { maxLength: 5 }),
      target,
      twist,
      fc.constantFrom(...PERMISSION_MODES),
      fc.constantFrom("create" as const, "modify" as const, "delete" as const),
      (way, name, twisted, mode, change) => {
        const path = [join(dir, "ws"), ...way, twisted(name)].join("/");
        const who = subject({
          mode,
          cwd: join(dir, "ws"),
          roots: [join(dir, "ws"), join(dir, "home")],
          free: [],
        });
        const real = realPath(path);
        const decision = permit.decide(who, {
          tool: "edit",
          effects: [{ kind: "write", path, real, change }],
        });
        expect(decision.behavior, path).not.toBe("allow");
        if (decision.behavior === "ask") expect(decision.isHard, path).toBe(true);
      },
    ),
    { numRuns: FORMS },
  );
});

test("their neighbours are written: the forms above are refused for what they lead to", () => {
  const who = subject({ mode: "accept_edits", cwd: join(dir, "ws"), roots: [join(dir, "ws")], free: [] });
  for (const name of ["a/up/x", "a/b/ws/a/x", ".gitignore", ".git/index", "h/../ws/src.ts"]) {
    const path = join(dir, "ws", name);
    const effects = [{ kind: "write", path, real: realPath(path), change: "create" }] as const;
    expect(permit.decide(who, { tool: "edit", effects }).behavior, name).toBe("allow");
  }
});
