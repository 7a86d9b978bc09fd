/**
 * A clone runs wherever it lies and whoever runs it: below `/tmp`, on a path that a shell would take apart, by a user whom no list
 * knows, with bubblewrap and without, and with a `/tmp` that cannot be written. Its dependencies are those of this repository.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { confinersHere } from "../src/dev/host/testing.ts";
import { shellWord } from "../src/lib/shell-word.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import type { Run } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { startModelServer } from "./model-server/server.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PARTS = ["bin", "dist", "lib", "scripts", "src", "package.json", "package-lock.json", "node_modules"];
const isRoot = process.getuid?.() === 0;
/** No list has it. */
const NOBODY = 54_321;
const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"].find(existsSync);
/** What the commands of a test run as. */
const user = isRoot && SETPRIV !== undefined ? NOBODY : undefined;
const asUser =
  user === undefined || SETPRIV === undefined
    ? []
    : [SETPRIV, `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"];
const BWRAP = "/usr/bin/bwrap";
const canWrap = spawnSync(BWRAP, ["--dev-bind", "/", "/", "true"]).status === 0;
const PERLS = ["/usr/bin/perl", "/bin/perl", "/usr/local/bin/perl"].filter(existsSync);
/** A command line in which these programs are not installed. */
const without = (...programs: readonly string[]) => [
  ...[BWRAP, "--dev-bind", "/", "/"],
  ...[...new Set(programs.map((path) => realpathSync(path)))].flatMap((path) => [
    "--ro-bind",
    "/dev/null",
    path,
  ]),
];
/** A command line in which nobody can make a namespace, as in most containers. */
const flat = [...without(BWRAP), "--unshare-user", "--disable-userns"];
const canBeFlat =
  confinersHere().some(({ kind }) => kind === "landlock") &&
  spawnSync(asUser[0] ?? BWRAP, [
    ...asUser.slice(1),
    ...(asUser.length > 0 ? [BWRAP] : []),
    ...flat.slice(1),
    "true",
  ]).status === 0;
const canDoWithoutBubblewrap = () => confinersHere().some(({ kind }) => kind === "namespaces");
const canWrapAsUser =
  canWrap &&
  spawnSync(asUser[0] ?? BWRAP, [
    ...asUser.slice(1),
    ...(asUser.length > 0 ? [BWRAP] : []),
    "--dev-bind",
    "/",
    "/",
    "--unshare-pid",
    "--proc",
    "/proc",
    "true",
  ]).status === 0;

let place = "";
let clone = "";

beforeAll(() => {
  place = realpathSync(mkdtempSync("/tmp/crux-clone-"));
  chmodSync(place, 0o755);
  clone = join(place, "it's a $HOME é/clone");
  const parts = PARTS.map((name) => join(ROOT, name));
  // a file of the tests' cache may go while it is copied
  const isCopied = ["-al", "-al", "-a", "-a"].some((how) => {
    rmSync(clone, { recursive: true, force: true });
    mkdirSync(clone, { recursive: true });
    // times count: by them the build is known to be that of the sources
    return spawnSync("cp", [how, ...parts, clone], { stdio: "ignore" }).status === 0;
  });
  expect(isCopied).toBe(true);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Folders of one user, who runs things in `work`; `wrap`: a command line to run each in. */
class Desk {
  readonly dir = mkdtempSync(join(place, "desk-"));
  readonly work = join(this.dir, "my work");
  readonly env: Record<string, string>;
  readonly #wrap: readonly string[];

  constructor(wrap: readonly string[] = [], settings: unknown = {}) {
    this.#wrap = wrap;
    this.env = {
      PATH: systemPath(),
      HOME: join(this.dir, "home"),
      XDG_RUNTIME_DIR: join(this.dir, "run"),
      LANG: "C.UTF-8",
      CRUX_SAFE_MODE_AFTER: "0",
      npm_config_update_notifier: "false",
    };
    const config = join(this.dir, "home/.config/crux");
    for (const dir of [this.work, join(this.dir, "run"), config])
      mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(config, "settings.json"), JSON.stringify(settings));
    if (user !== undefined) spawnSync("chown", ["-R", `${user}:${user}`, this.dir]);
    onTestFinished(async () => {
      await this.crux("daemon", "stop");
    });
  }

  crux(...args: readonly string[]): Promise<Run> {
    return this.run([join(clone, "bin/crux"), ...args]);
  }

  async run(argv: readonly string[], cwd = this.work): Promise<Run> {
    const [program = "", ...args] = [...asUser, ...this.#wrap, ...argv];
    const child = spawn(program, args, { cwd, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => void out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => void err.push(chunk));
    return new Promise((resolve) =>
      child.once("close", (code, signal) =>
        resolve({
          code,
          signal,
          stdout: Buffer.concat(out).toString(),
          stderr: Buffer.concat(err).toString(),
        }),
      ),
    );
  }

  /** What a model is told of one command that its agent ran. */
  async told(command: string): Promise<string> {
    const server = await startModelServer({
      script: inTurn(toolUse({ name: "bash", input: { command } }), text("Done.")),
    });
    Object.assign(this.env, modelEnv(server));
    try {
      const { stderr } = await this.crux("-q", "try it");
      const told = server.requests.flatMap(({ lastToolResults }) => lastToolResults);
      return told.map(({ content }) => content).join("\n") || stderr;
    } finally {
      await server.close();
    }
  }
}

const ALLOWED = { permissions: { allow: ["bash"] } };

describe.skipIf(process.platform !== "linux")(
  "a clone below /tmp, on a path with blanks, quotes, `$` and é",
  () => {
    it("starts by `npm start`, and works, for a user whom no list knows", async () => {
      const desk = new Desk();
      const started = await desk.run(["npm", "start", "--silent", "--", "list the files in bin"], clone);
      expect([started.code, started.stderr]).toEqual([0, expect.not.stringMatching(/installing|building/)]);
      expect(started.stdout).toMatch(/\n {2}.*crux\n/);
      const wrote = await desk.crux("--permission-mode", "accept_edits", "write 'buy milk' to note.txt");
      expect([wrote.code, readFileSync(join(desk.work, "note.txt"), "utf8").trim()]).toEqual([0, "buy milk"]);
      expect((await desk.crux("ps")).code).toBe(0);
      expect((await desk.run([join(clone, "bin/crux"), "-q", "version"], "/")).stdout).toMatch(
        /^\d+\.\d+\.\d+\n$/,
      );
    });

    it.skipIf(!canWrapAsUser)(
      "confines commands, which reach the project's Node and their folder",
      async () => {
        const desk = new Desk([], ALLOWED);
        const node = shellWord(join(clone, "node_modules/node/bin/node"));
        writeFileSync(
          join(desk.work, "go.sh"),
          `${node} -p '6*7' > answer; cat answer; touch ${shellWord(join(clone, "x"))}`,
        );
        const result = await desk.told("sh go.sh");
        expect(result).toMatch(/^42\n/);
        expect(result).toMatch(/Read-only file system/);
        expect(existsSync(join(clone, "x"))).toBe(false);
      },
    );

    it.skipIf(!canWrapAsUser || !canDoWithoutBubblewrap())(
      "confines commands without bubblewrap",
      async () => {
        const desk = new Desk(without(BWRAP), ALLOWED);
        const result = await desk.told(`echo x > x; echo $$; touch ${shellWord(join(clone, "x"))}`);
        expect(result).toMatch(/^\d\n.*Read-only file system/);
        expect([existsSync(join(desk.work, "x")), existsSync(join(clone, "x"))]).toEqual([true, false]);
        expect((await desk.crux("daemon", "status", "-v")).stdout).toMatch(/ \| sandbox: namespaces( \||\n)/);
      },
    );

    it.skipIf(!canBeFlat)("confines commands where no namespaces can be made", async () => {
      const desk = new Desk(flat, ALLOWED);
      writeFileSync(join(desk.work, "a.txt"), "1\n2\n3\n");
      const first = ["count the lines of every file here and write them to LINES.md"];
      const began = await desk.crux("--permission-mode", "accept_edits", ...first);
      expect([began.code, readFileSync(join(desk.work, "LINES.md"), "utf8")]).toEqual([
        ...[0, expect.stringMatching(/a\.txt.*3|3.*a\.txt/)],
      ]);
      const result = await desk.told(`echo x > x; cat x; touch ${shellWord(join(clone, "x"))}`);
      expect(result).toMatch(/^x\n.*Permission denied/);
      expect(existsSync(join(clone, "x"))).toBe(false);
      expect((await desk.crux("daemon", "status", "-v")).stdout).toMatch(/ \| sandbox: landlock( \||\n)/);
      const checked = await desk.crux("doctor", "--offline");
      expect(checked.stdout).toMatch(
        /! sandbox: works \(landlock\), and does not promise everything: .+\n {2}→ apt-get/,
      );
    });

    it.skipIf(!canWrap)(
      "without anything that confines asks, and says why it refuses where nobody answers",
      async () => {
        const desk = new Desk(without(BWRAP, ...PERLS), ALLOWED);
        expect(await desk.told("echo x > x")).toContain("neither bubblewrap nor perl is installed");
        expect(existsSync(join(desk.work, "x"))).toBe(false);
        expect((await desk.crux("ps")).code).toBe(0);
      },
    );
  },
);

describe.skipIf(!canWrapAsUser)("a /tmp that cannot be written", () => {
  it.each(["a runtime directory", "none"])("breaks nothing, with %s", async (runtime) => {
    const closed = ["--tmpfs", "/tmp", "--bind", place, place, "--remount-ro", "/tmp"];
    const desk = new Desk([BWRAP, "--dev-bind", "/", "/", ...closed], ALLOWED);
    if (runtime === "none") delete desk.env.XDG_RUNTIME_DIR;
    expect((await desk.run(["sh", "-c", "echo x > /tmp/x"])).stderr).toMatch(/Read-only/);
    expect((await desk.crux("daemon", "start")).code).toBe(0);
    expect(await desk.told("echo private > /tmp/x && cat /tmp/x && cat <<< here > kept; cat kept")).toMatch(
      /^private\nhere\n/,
    );
    const status = await desk.crux("daemon", "status", "--json");
    expect([status.code, status.stdout]).toEqual([0, expect.not.stringContaining('"/tmp/crux-')]);
    const log = readFileSync(join(desk.dir, "home/.local/state/crux/daemon.log"), "utf8");
    expect(log).not.toMatch(/EROFS|ENOENT/);
  });
});

/** The machine's own Node and npm, without the folders that a package script puts in front. */
function systemPath(): string {
  const parts = (process.env.PATH ?? "").split(delimiter);
  return parts.filter((part) => !part.includes("node_modules")).join(delimiter);
}
