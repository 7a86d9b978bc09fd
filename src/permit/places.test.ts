import { beforeAll, describe, expect, test } from "vitest";
import type { PermissionMode } from "../abi/process.ts";
import type { RuleText } from "../abi/rules.ts";
import { allowed, asked, bash, denied, read, run, subject, write } from "./contract.ts";
import { makePermit } from "./policy.ts";
import { loadParser } from "./shell/parser.ts";

beforeAll(async () => {
  await loadParser();
});

const make = (rules: readonly RuleText[] = [], realPath = (path: string) => path) =>
  makePermit({
    rules,
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/home/u/.local/state/crux", "/state"],
    realPath,
    exists: (path) => ["/ws/.git", "/home/u/p/.git", "/ws/bare/HEAD", "/ws/there"].includes(path),
  });
const MODES: readonly PermissionMode[] = ["default", "accept_edits", "bypass"];
const decideText = (text: string, mode: PermissionMode = "default", rules: readonly RuleText[] = []) =>
  run(make(rules), "bash", [bash(text)], subject({ mode }));

describe("a directory of PATH", () => {
  const who = subject({ mode: "bypass", programs: ["/ws/bin", "/ws/link"] });
  const permit = make([allowed("edit")], (path) => path.replace(/^\/ws\/link/, "/ws/real"));

  test("is not written without a person: a file there takes the place of a command", () => {
    for (const path of ["/ws/bin/cat", "/ws/link/cat", "/ws/real/cat"])
      expect(run(permit, "edit", [write(path)], who), path).toMatchObject({ behavior: "ask", isHard: true });
    expect(run(permit, "bash", [bash("cp a bin/cat")], who)).toMatchObject({ behavior: "ask", isHard: true });
  });

  test("is read, and what lies below or beside it is written", () => {
    for (const effect of [read("/ws/bin/cat"), write("/ws/bin/lib/a"), write("/ws/binary")])
      expect(run(permit, "edit", [effect], who).behavior, JSON.stringify(effect)).toBe("allow");
  });
});

describe("a free directory", () => {
  test("is read and written without asking, in every mode, also by commands", () => {
    const subtree = {
      kind: "read",
      path: "/state/scratch/1",
      real: "/state/scratch/1",
      subtree: true,
    } as const;
    for (const mode of MODES) {
      const who = subject({ mode });
      for (const effect of [read("/state/scratch/1/a"), write("/state/scratch/1/a/b"), subtree])
        expect(run(make(), "fs", [effect], who).behavior, JSON.stringify(effect)).toBe("allow");
      for (const text of [
        "cat /state/scratch/1/a",
        "grep -r x /state/scratch/1",
        "mkdir -p /state/scratch/1/d",
        "ls > /state/scratch/1/f",
      ])
        expect(decideText(text, mode).behavior, text).toBe("allow");
    }
    for (const text of ["cp a b /state/scratch/1", "mv -t /state/scratch/1 a"]) {
      expect(decideText(text).behavior, text).toBe("ask");
      expect(decideText(text, "bypass").behavior, text).toBe("allow");
    }
    expect(decideText("ls $X /state/scratch/1 2>f", "bypass").behavior).toBe("allow");
  });

  test("of another process is closed like any kernel path; so is the folder that holds them, and its own removal", () => {
    const others = ["/state/scratch/2/a", "/state/scratch/12/a", "/state/scratch", "/state/scratch/1/../2/a"];
    for (const mode of MODES) {
      const who = subject({ mode, grants: ["view", "edit", "bash"] });
      for (const path of others) {
        expect(run(make(), "view", [read(path)], who).behavior, path).toBe("deny");
        expect(run(make(), "edit", [write(path)], who).behavior, path).toBe("deny");
      }
      for (const text of [
        "cat /state/scratch/2/a",
        "cp a /state/scratch/2/a",
        "touch /state/scratch/2/a",
        "cat /state/scratch/1/../2/a",
        "echo x > /state/scratch/2/a",
        "echo x > /state/scratch/12/a",
        "cat /state/scratch/1* | sh",
        "cat < /state/scratch/1/../2/a",
        "rm -rf /state/scratch/1",
        "mv /state/scratch/1 /ws/x",
      ])
        expect(run(make(), "bash", [bash(text)], who).behavior, text).toBe("deny");
    }
  });

  test("opens nothing that a link in it leads to", () => {
    for (const mode of MODES) {
      const who = subject({ mode });
      const at = (real: string) => run(make(), "fs", [read("/state/scratch/1/l", real)], who).behavior;
      expect(at("/state/journal/journal.db")).toBe("deny");
      expect(at("/state/scratch/2/a")).toBe("deny");
      expect(at("/ws/.env")).toBe("ask");
      expect(at("/srv/a")).toBe(mode === "bypass" ? "allow" : "ask");
    }
    const moved = make([], (path) => path.replace("/state/scratch/1", "/home/u/.ssh"));
    expect(run(moved, "bash", [bash("cat /state/scratch/1/config")]).behavior).toBe("ask");
  });

  test("does not outvote a deny rule", () => {
    const permit = make([denied("edit(*.lock)")]);
    expect(run(permit, "edit", [write("/state/scratch/1/a.lock")]).behavior).toBe("deny");
  });

  test("is none where the process has none", () => {
    const { free: _, ...who } = subject();
    expect(run(make(), "view", [read("/state/scratch/1/a")], who).behavior).toBe("deny");
  });
});

describe("the folder that the agents of a session share", () => {
  const shared = "/state/scratchpads/1";

  test("is read and written without asking, in every mode, also by commands; that of another session never", () => {
    for (const mode of MODES) {
      const who = subject({ mode, shared, grants: ["view", "edit", "bash"] });
      for (const effect of [read(`${shared}/a`), write(`${shared}/a/b`)])
        expect(run(make(), "fs", [effect], { ...who, grants: [] }).behavior, mode).toBe("allow");
      for (const path of ["/state/scratchpads/2/a", "/state/scratchpads", `${shared}/../2/a`, shared])
        expect(run(make(), "edit", [write(path)], who).behavior, path).toBe("deny");
      const text = "cat /state/scratchpads/2/a";
      expect(run(make(), "bash", [bash(text)], who).behavior).toBe("deny");
    }
    const { behavior } = run(make(), "bash", [bash(`ls > ${shared}/f`)], subject({ shared }));
    expect(behavior).toBe("allow");
  });

  test("has no links: what one leads to is refused in every mode, within the folder, too", () => {
    for (const mode of MODES) {
      const who = subject({ mode, shared, grants: ["view", "edit"] });
      for (const real of ["/ws/a", "/etc/passwd", `${shared}/other`])
        for (const effect of [read(`${shared}/l`, real), write(`${shared}/l`, real)])
          expect(run(make(), "fs", [effect], who).behavior, real).toBe("deny");
    }
    const linked = make([], (path) => path.replace(`${shared}/l`, "/etc"));
    expect(run(linked, "bash", [bash(`cat ${shared}/l/passwd`)], subject({ shared })).behavior).toBe("deny");
  });
});

describe("protected paths", () => {
  const everything = [allowed("bash"), allowed("bash(*)"), allowed("edit"), allowed("view")];

  test("are a hard ask that names their class: no mode, rule or grant answers", () => {
    for (const mode of MODES) {
      const who = subject({ mode, grants: ["edit(//ws/.git/**)", "view(.env)"] });
      expect(run(make(everything), "edit", [write("/ws/.git/hooks/x")], who)).toEqual({
        behavior: "ask",
        always: null,
        isHard: true,
        message: "write /ws/.git/hooks/x: a protected path (execution); no mode or rule answers for the user",
        reason: { kind: "protected", detail: "a protected path (execution)" },
        said: [
          {
            kind: "protected",
            access: "write",
            path: "/ws/.git/hooks/x",
            why: "a protected path (execution)",
          },
        ],
      });
      expect(run(make(everything), "view", [read("/ws/.env")], who)).toMatchObject({
        behavior: "ask",
        always: null,
        message: expect.stringContaining("(secret)"),
      });
      expect(run(make(everything), "write", [write("/ws/.crux/settings.json")], who)).toMatchObject({
        behavior: "ask",
        message: expect.stringContaining("(authority)"),
      });
    }
  });

  test("count as written and as resolved; a deny rule still denies", () => {
    const who = subject({ mode: "bypass" });
    expect(run(make(), "edit", [write("/ws/l", "/ws/.git/config")], who).behavior).toBe("ask");
    expect(run(make(), "edit", [write("/ws/.vscode/l", "/ws/a")], who).behavior).toBe("ask");
    const rules = [denied("edit(.git/**)"), asked("edit(.husky/**)")];
    expect(run(make(rules), "edit", [write("/ws/.git/config")], who).behavior).toBe("deny");
    expect(run(make(rules), "edit", [write("/ws/.husky/x")], who).reason.kind).toBe("rule");
  });

  test.each([
    ...["cp k /home/u/.ssh/authorized_keys", "cp x .git/hooks/pre-commit", "cp x/.envrc .", "cp -t .git x"],
    ...[
      "cp --target-directory=.vscode x",
      "install -m 755 x .git/hooks/x",
      "ln -s /tmp/x .git",
      "ln x/.envrc",
    ],
    ...["ln .git/config x", "cp -l .git/config x", "mv .git g", "mv g .git", "mv a b .husky", "rm -rf .git"],
    ...[
      "tee -a /home/u/.bashrc",
      "touch .envrc",
      "mkdir .git",
      "mkdir -p .claude/agents",
      "chmod +x .git/hooks/x",
    ],
    ...[
      "truncate -s 0 .mcp.json",
      "dd if=a of=/home/u/.profile",
      "sed -i s/a/b/ .git/config",
      "rsync x .vscode/",
    ],
    ...["rm -rf /home/u/.config", "cp a /etc/hosts", "env cp x .npmrc", "echo x | xargs tee .envrc"],
    ...["bash -c 'cp x .git/hooks/y'", "cd .git && touch config", "mv .GIT g"],
  ])("%j hits what it would write, in every mode", (text) => {
    for (const mode of MODES)
      expect(decideText(text, mode, everything), mode).toMatchObject({
        behavior: "ask",
        always: null,
        reason: { kind: "protected" },
      });
  });

  test.each([
    ...["cat .env", "head -5 server.pem", "grep x .env.local", "grep -r x .env", "cp .env x", "mv .env x"],
    ...["base64 .env", "cat /proc/1/environ", "git show HEAD:.env", "diff .env a", "dd if=.env of=x"],
    ...["docker run --env-file .env x", "curl-like @.env", "cat /home/u/.aws/credentials", "wc -l a .env"],
  ])("%j names a secret", (text) => {
    for (const mode of MODES)
      expect(decideText(text, mode, everything), mode).toMatchObject({
        behavior: "ask",
        always: null,
        message: expect.stringContaining("(secret)"),
      });
  });

  test.each([
    ...[
      "echo x > .git/hooks/pre-commit",
      "echo '{}' > .crux/settings.json",
      "echo x >> ~/.bashrc",
      "x &> .envrc",
    ],
    ...[
      'echo x >"$HOME/.ssh/config"',
      "cat a 2>/dev/null >| .git/config",
      "a | tee .envrc 2>&1",
      "cat < .env",
    ],
    ...[
      "cp $X .git/hooks",
      "rm -rf .git*",
      "cat .env*",
      'echo "$(cat .env)"',
      "echo `cat .env`",
      "cat .e''nv $X",
    ],
    ...[
      "cd .git && echo x > config",
      "for f in a; do cp $f .husky/; done",
      "cat > .envrc <<E\nx\nE",
      "X=.env cmd",
    ],
    ...["cat .g\\\nit/x > .gi\\\nt/config", "# don't\necho x > .envrc\n# it's"],
  ])("%j cannot be read, but names one", (text) => {
    for (const mode of MODES)
      expect(decideText(text, mode, everything), mode).toMatchObject({
        behavior: "ask",
        always: null,
        reason: { kind: "protected" },
      });
  });

  test.each([
    ...[
      "cat .git/config",
      "ls .git/hooks",
      "ls /usr/bin",
      "cat .claude/agents/x.md 2>/dev/null",
      "git add .vscode",
    ],
    ...[
      "rm .env",
      "touch .env",
      "cp .env.example a",
      "grep -r x .",
      "rg x",
      "find . -name .env",
      "echo .env > a",
    ],
    ...[
      "ln -s /usr/bin/x y",
      "cp /etc/hosts a",
      "python3 x.py /usr/share/dict",
      "node .claude/x.js",
      "mkdir a",
    ],
    ...["cat > notes <<'E'\nrm -rf .git; cat .env\nE", "ls /etc/*.conf", "npm test > log 2>&1 # not .env"],
    ...["echo x > .git/COMMIT_EDITMSG", "for f in /etc/*; do wc $f; done", 'git commit -m "about .env; $X"'],
  ])("%j is no question in bypass", (text) => {
    expect(decideText(text, "bypass").behavior).toBe("allow");
  });

  test("a search over a directory that may hold secrets does not ask", () => {
    const subtree = { kind: "read", path: "/ws", real: "/ws", subtree: true } as const;
    expect(run(make(), "grep", [subtree]).behavior).toBe("allow");
    expect(decideText("grep -r x .").behavior).toBe("allow");
  });
});

describe("mkdir, touch, cp and mv", () => {
  test.each([
    "mkdir a",
    "mkdir -pv a/b 'c d'",
    "touch -- -x",
    "mkdir a && cd a && touch b",
    "timeout 5 touch a",
    "cp -r a b",
    "mv a b",
  ])("%j is a write in accept_edits", (text) => {
    expect(decideText(text, "accept_edits").behavior).toBe("allow");
    expect(decideText(text).behavior).toBe("ask");
  });

  test.each([
    ...[
      "mkdir /srv/a",
      "mkdir ../a",
      "touch a/../../b",
      "mkdir -m 777 a",
      "touch -r x a",
      "mkdir $X",
      "./mkdir a",
    ],
    ...[
      "mkdir a; npm test",
      "cp a there",
      "mv a there",
      "cp a b c",
      "cp -f a b",
      "echo a | xargs touch",
      "mkdir",
      "touch ''",
    ],
  ])("%j asks in accept_edits", (text) => {
    expect(decideText(text, "accept_edits").behavior).toBe("ask");
  });

  test("follow links, rules and the shipped denies", () => {
    const out = (path: string) => path.replace("/ws/l", "/srv");
    const who = subject({ mode: "accept_edits" });
    expect(run(make([], out), "bash", [bash("touch l/a")], who).behavior).toBe("ask");
    expect(decideText("touch src/a", "default", [allowed("edit(src/**)")]).behavior).toBe("allow");
    expect(decideText("touch src/a", "accept_edits", [denied("edit(src/**)")]).behavior).toBe("deny");
    expect(decideText("touch a", "accept_edits", [denied("bash(touch:*)")]).behavior).toBe("deny");
    expect(decideText("touch a", "accept_edits", [asked("bash(touch:*)")]).behavior).toBe("ask");
  });

  test("suggest nothing wider than the command", () => {
    expect(decideText("mkdir build")).toMatchObject({ behavior: "ask", always: "bash(mkdir build:*)" });
  });
});

describe("git", () => {
  const inside = (cwd: string, text: string, roots = [cwd], rules: readonly RuleText[] = []) =>
    run(make(rules), "bash", [{ ...bash(text), cwd } as ReturnType<typeof bash>], subject({ cwd, roots }));

  test("reads unasked where its repository lies in the working directories, or there is none", () => {
    expect(inside("/ws/a", "git status", ["/ws"]).behavior).toBe("allow");
    expect(inside("/ws/.git", "git log", ["/ws"]).behavior).toBe("allow");
    expect(inside("/srv/x", "git status").behavior).toBe("allow");
  });

  test("asks where the repository lies further up, or is a bare one; a rule answers", () => {
    const outside = inside("/home/u/p/pkg", "git status");
    expect(outside).toMatchObject({ behavior: "ask", message: expect.stringContaining("/home/u/p") });
    expect(inside("/home/u/p/pkg", "ls").behavior).toBe("allow");
    expect(inside("/ws", "cd bare && git log").behavior).toBe("ask");
    expect(inside("/home/u/p/pkg", "git diff", undefined, [allowed("bash(git diff:*)")]).behavior).toBe(
      "allow",
    );
    expect(inside("/home/u/p/pkg", "git diff a", undefined, [denied("view(a)")]).behavior).toBe("deny");
  });
});
