/** Commands around the system, in one world: completion in real shells, the manual page, first files, what is set and set up. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { CRUX, World } from "./harness/world.ts";
import { text } from "./model-server/reply.ts";
import { startModelServer } from "./model-server/server.ts";

let world: World;
let bin: string;

beforeTries(
  async () => {
    world = new World();
    bin = join(world.dir, "bin");
    mkdirSync(bin);
    symlinkSync(CRUX, join(bin, "crux"));
    expect((await world.crux(["init", "compose", "notes"])).code).toBe(0);
  },
  () => world.close(),
);

const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

function shell(argv: readonly string[], env: Record<string, string> = {}): string {
  const [program = "", ...args] = argv;
  const { stdout, stderr } = spawnSync(program, args, {
    cwd: world.work,
    env: { ...world.env, ...env, PATH: `${bin}:${dirname(process.execPath)}:${world.env.PATH}` },
    encoding: "utf8",
  });
  return stdout + stderr;
}

describe("completion", () => {
  const complete = (...words: string[]) => world.crux(["__complete", "--", ...words]);

  it("starts no daemon, and says nothing where it knows nothing", async () => {
    expect(await complete("kill", "")).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(await complete("fix", "--")).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect((await complete("--agent", "")).stdout).toBe("none\ncode-analyst\ngeneral-purpose\n");
    expect((await complete("ps", "--he")).stdout).toBe("--help\thelp on the command\n");
    expect(world.daemonPid).toBeUndefined();
  });

  const inBash = (...words: string[]) =>
    shell([
      "bash",
      "-c",
      'source <(crux completion bash); COMP_WORDS=(crux "$@"); COMP_CWORD=$#; _crux; printf "%s\\n" "${COMPREPLY[@]}"',
      "bash",
      ...words,
    ]);

  it("works in bash: commands, flags, values, files, and words with an equals sign", () => {
    expect(inBash("daemon", "st")).toContain("start\nstatus\nstop\n");
    expect(inBash("compose", "up", "--d")).toContain("--detach\n");
    expect(inBash("--permission-mode", "=", "pl")).toContain("plan\n");
    expect(inBash("compose", "-f", "crux.c")).toContain("crux.compose.yaml\n");
  });

  it.skipIf(!has("zsh"))("works in zsh (skipped where there is none)", () => {
    const script = `autoload -U compinit; compinit -D -u; source <(crux completion zsh)
      _describe() { print -l -- "\${(@P)2}" }
      words=(crux daemon st); CURRENT=3; _crux`;
    expect(shell(["zsh", "-f", "-c", script])).toContain("start:\nstatus:\nstop:\n");
  });

  it.skipIf(!has("fish"))("works in fish (skipped where there is none)", () => {
    const script = 'crux completion fish | source; complete -C "crux daemon st"';
    expect(shell(["fish", "-N", "-c", script])).toContain("start\nstatus\nstop\n");
  });
});

it.skipIf(!has("mandoc"))(
  "crux man is a page that mandoc finds no fault with (skipped where there is none)",
  () => {
    const found = shell(["sh", "-c", "crux man | mandoc -T lint -W error"]);
    expect(found).toBe("");
  },
);

describe("crux config", () => {
  const config = (...words: string[]) => world.crux(["config", ...words]);
  const file = () => readFileSync(join(world.dir, "config/crux/settings.json"), "utf8");

  it("writes one value, keeps the rest byte for byte, and says where each stands", async () => {
    world.settings({});
    writeFileSync(
      join(world.dir, "config/crux/settings.json"),
      '{\n    "mine": [1,2],\n    "model": "opus"\n}\n',
    );
    expect((await config("set", "cleanupPeriodDays", "7")).stdout).toMatch(
      /^cleanupPeriodDays: set in .*settings.json\n$/,
    );
    expect(file()).toBe('{\n    "mine": [1,2],\n    "model": "opus",\n    "cleanupPeriodDays": 7\n}\n');
    expect((await config("get", "cleanupPeriodDays")).stdout).toBe("7\n");
    expect((await config("list")).stdout).toMatch(/^model +opus +user +.*settings\.json$/m);
    expect((await config("list", "--all")).stdout).toMatch(/^sandbox.mode +on +default$/m);
    expect((await config("unset", "cleanupPeriodDays")).stdout).toContain("taken out");
    expect(file()).toBe('{\n    "mine": [1,2],\n    "model": "opus"\n}\n');
    const shadowed = await world.crux(["config", "list"], { env: { CRUX_MODEL: "haiku" } });
    expect(shadowed.stdout).toMatch(/does not count: CRUX_MODEL is set/);
    await config("unset", "model");
  });

  it("refuses what no key takes, and writes nothing then", async () => {
    world.settings({});
    const before = file();
    for (const [words, said] of [
      [["set", "modell", "x"], "no such setting: modell\n  → hint: did you mean model?"],
      [["get", "defaultMode"], "did you mean permissions.defaultMode?"],
      [["set", "cleanupPeriodDays", "soon"], "cleanupPeriodDays: Invalid input: expected"],
      [["set", "permissions.defaultMode", "bypass"], "bypass is chosen at the start of a run"],
      [["set", "permissions.allow", '["bash("]'], "not a rule"],
      [["set", "permissions", "{}"], "permissions holds several settings"],
      [["set", "modelType", "xai", "--project"], "modelType is not taken from the settings of a folder"],
    ] as const) {
      const { code, stderr } = await config(...words);
      expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
    }
    expect([file(), existsSync(join(world.work, ".crux/settings.json"))]).toEqual([before, false]);
  });

  it("writes the rules of a folder, which do not count before it is trusted", async () => {
    const rule = '["bash(npm test:*)"]';
    expect((await config("set", "permissions.allow", rule, "--project")).stdout).toContain(
      "until you trust its folder",
    );
    expect((await config("get", "permissions.allow", "-v")).stdout).toMatch(
      /project .*this folder is not trusted/,
    );
    expect((await config("get", "permissions.allow")).code).toBe(1);
  });
});

describe("the kernel's own tree", () => {
  it("crux ls goes down from the root, crux cat reads what is there", async () => {
    expect((await world.crux(["ls", "/"])).stdout).toBe("bin/\ndev/\nmnt/\nproc/\nvar/\n");
    expect((await world.crux(["ls", "/mnt"])).stdout).toBe("mcp/\n");
    expect((await world.crux(["ls", "/dev"])).stdout).toContain("llm/\n");
    expect((await world.crux(["ls", "-q", "/bin"])).stdout.split("\n")).toContain("edit");
    const tool = JSON.parse((await world.crux(["cat", "/bin/edit"])).stdout);
    expect(tool).toMatchObject({ name: "edit", inputSchema: { type: "object" } });
    expect((await world.crux(["cat", "/dev/null"])).stdout).toBe("");
    // nobody waits, and nothing limits a script
    expect(await world.crux(["cat", "/dev/llm/script/queue"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("shows a process as its files, redacted, and names what is not there", async () => {
    const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    await using server = await startModelServer({
      script: [{ default: text("This begins and then").stall({ afterEvents: 2 }) }],
    });
    const { stdout } = await world.crux(["-q", "-d", `survey this ${secret}`], { env: modelEnv(server) });
    const pid = stdout.trim();
    try {
      expect((await world.crux(["ls", "/proc"])).stdout).toContain(`${pid}/\n`);
      const long = await world.crux(["ls", "-l", `/proc/${pid}`]);
      expect(long.stdout).toMatch(/^file +\d+ +status$/m);
      const status = await world.crux(["cat", `/proc/${pid}/status`]);
      expect(JSON.parse(status.stdout).pid).toBe(Number(pid));
      expect(status.stdout + (await world.crux(["cat", `/proc/${pid}/intent`])).stdout).not.toContain(secret);
    } finally {
      await world.crux(["stop", pid]);
    }
    expect((await world.crux(["cat", "/proc/999/status"])).stderr).toContain("process not found: 999");
    for (const [path, said] of [
      ["/dev/fs/etc/passwd", "hint: cat /etc/passwd"],
      ["/dev/tty", "/dev/tty is a device"],
      ["/etc/passwd", "not a path of the kernel's tree"],
      ["/proc/../etc/passwd", "not a path of the kernel's tree"],
    ] as const)
      expect(await world.crux(["cat", path])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(said),
      });
  });
});

it("what crux init wrote is valid: the compose file is one", async () => {
  expect((await world.crux(["compose", "config"])).stdout).toMatch(/^name: notes\n/);
});
