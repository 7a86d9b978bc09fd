/** The daemon's composition root: every subsystem is made and mounted here, in start order, and nowhere else. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DEFAULT_AGENT } from "./abi/agent.ts";
import type { Effect } from "./abi/effects.ts";
import { messageOf } from "./abi/errors.ts";
import { asProcUuid } from "./abi/ids.ts";
import type { PermissionMode } from "./abi/process.ts";
import type { Settings } from "./abi/settings.ts";
import { AgentCache } from "./agent/agent-cache.ts";
import { makeAgentLoader } from "./agent/loader.ts";
import { agentProgram } from "./agent/loop.ts";
import { agedBefore } from "./daemon/age-check.ts";
import type { BootContext, Booted } from "./daemon/run.ts";
import { fsDevice } from "./dev/fs/device.ts";
import { sweepTemp } from "./dev/fs/temp-file.ts";
import { loadComposeProject } from "./dev/host/compose-source.ts";
import { HostProcesses } from "./dev/host/exec.ts";
import { sweepOrphans } from "./dev/host/orphans.ts";
import { realPath } from "./dev/host/real-path.ts";
import { mcpHost } from "./dev/mcp/host.ts";
import { nullDevice } from "./dev/null/device.ts";
import { outDevice } from "./dev/out/device.ts";
import { OutputStore } from "./dev/out/output-store.ts";
import { ScratchStore } from "./dev/out/scratch.ts";
import { DiskSpools } from "./dev/out/spool.ts";
import { procDevice } from "./dev/proc/device.ts";
import { shellDevice } from "./dev/shell/device.ts";
import { commandEnvironment } from "./dev/shell/environment.ts";
import { Kernel } from "./kernel/kernel.ts";
import { LIMITS } from "./kernel/limits.ts";
import type { Journal } from "./kernel/ports/journal.ts";
import type { Retention } from "./kernel/ports/journal-tools.ts";
import type { ModelResolver } from "./kernel/ports/models.ts";
import type { Permit } from "./kernel/ports/permit.ts";
import { modelDevices } from "./llm/devices.ts";
import { createModelResolver } from "./llm/resolve.ts";
import { findMode } from "./permit/mode.ts";
import { makePermit } from "./permit/policy.ts";
import { secretPaths } from "./permit/protected.ts";
import { rulesFromSettings } from "./permit/settings-rules.ts";
import type { Lease } from "./store/lease.ts";
import { openAsItIs } from "./store/read-only.ts";
import { DEFAULT_RETENTION, JournalKeeper } from "./store/tools-keeper.ts";
import { bash } from "./tool/bash/bash.ts";
import { toolDevice } from "./tool/device.ts";
import { edit } from "./tool/edit/edit.ts";
import { glob } from "./tool/glob/glob.ts";
import { grep } from "./tool/grep/grep.ts";
import { ls } from "./tool/ls/ls.ts";
import { view } from "./tool/view/view.ts";
import { write } from "./tool/write/write.ts";
import type { ServerDeps } from "./wire/server/deps.ts";

const TOOLS = [bash, edit, glob, grep, ls, view, write];
/** The first client is served first. */
const LOOK_AHEAD_MS = 200;
const SCRATCH_KEPT_MS = 7 * 24 * 3600 * 1000;
const NOTHING_BACK = { lost: [], restored: [], resting: [] } as const;

export async function boot(context: BootContext<Lease>): Promise<Booted> {
  const { lease, paths, home, env, clock, log } = context;
  const { journal, over } = await openAsItIs(
    {
      dir: join(paths.stateDir, "journal"),
      clock,
      maxBytes: retentionOf(context.settings).maxBytes,
      onNotice: ({ message }) => log("warn", `journal: ${message}`),
    },
    lease.refusal,
  );
  lease.describe({ kernelId: journal.kernelId, epoch: journal.epoch });
  // what is there may only be looked at: in safe mode until a person says so, on such a disk until it takes writes
  const isTouched = !context.isSafeMode && over === undefined;
  await clearLeftovers(journal, context, over === undefined);

  const config = new Configuration(context);
  const pipesDir = join(paths.stateDir, "pipes");
  const exec = new HostProcesses({ kernelId: journal.kernelId, epoch: journal.epoch, pipesDir, clock });
  if (over === undefined) setTimeout(() => void exec.lookAhead(), LOOK_AHEAD_MS).unref();
  const outputs = new OutputStore(join(paths.stateDir, "outputs"));
  const scratch = new ScratchStore(join(paths.stateDir, "scratch"));
  const loadAgent = agentsOf(context);
  const mcp = mcpHost({ exec, services: () => kernel.services, clock, home, version: context.version });
  const kernel: Kernel = new Kernel({
    journal,
    permitFor: () => config.permit,
    models: config.resolver,
    program: agentProgram({ platform: process.platform, ...maxRetries(env) }),
    clock,
    ...(context.gaps === undefined ? {} : { gaps: context.gaps }),
    exec,
    spools: new DiskSpools(join(paths.stateDir, "spools")),
    mcp,
    commandEnv: (owner, extra) => commandEnvironment(owner, extra, paths.socketPath),
    random: Math.random,
    version: context.version,
    loadAgent,
    loadProject: loadComposeProject,
    realPath,
    uuid: () => asProcUuid(randomUUID()),
    nonce: () => randomBytes(8).toString("hex"),
    scratchDir: (uuid) => scratch.scratchDir(uuid),
    onReaped: async (uuid) => {
      await scratch.removeEmpty(uuid);
      await outputs.remove(uuid);
    },
    home,
    env,
    additionalRoots: [],
    sessionRestMs: () => config.settings.sessions?.restAfterMs ?? LIMITS.sessionRestMs,
    defaultMaxSteps: config.settings.defaults?.maxSteps ?? LIMITS.defaultMaxSteps,
    log,
  });

  kernel.mount("/dev/null", nullDevice);
  kernel.mount("/dev/fs", fsDevice({ exec, clock, realPath, env, isSecret: secretPaths(home, realPath) }));
  kernel.mount("/dev/shell", shellDevice({ exec, outputs, clock, socketPath: paths.socketPath }));
  for (const device of modelDevices({ exec, tmpDir: join(paths.stateDir, "tmp"), clock })) {
    kernel.mount(`/dev/llm/${device.name}`, device);
  }
  kernel.mount("/var/out", outDevice(outputs));
  kernel.mount("/proc", procDevice(kernel.view()));
  kernel.mount("/bin", toolDevice(TOOLS, { now: () => clock.now() }));

  const { lost, restored, resting } = isTouched ? await kernel.recover() : NOTHING_BACK;
  if (lost.length > 0) log("warn", `lost with the last daemon: pid ${lost.join(", ")}`);
  if (restored.length > 0) log("info", `brought back: pid ${restored.map(({ pid }) => pid).join(", ")}`);
  const back = new Set([...restored, ...resting].map(({ uuid }) => uuid));
  // all that is left may yet come back
  if (isTouched) clearFolders(paths.stateDir, back, clock.now());
  const keeper = new JournalKeeper({
    dir: join(paths.stateDir, "journal"),
    journal,
    clock,
    retention: () => retentionOf(config.settings),
    anchorFile: () => config.settings.audit?.anchor,
    isHeld: (pid) => kernel.holds(pid),
    log,
  });
  if (over === undefined) keeper.start({ clearsOut: isTouched });
  return {
    kernel,
    journal,
    desk: keeper.desk,
    loadAgent,
    ...(over === undefined ? {} : { readOnly: { words: kernel.journalWatch.readOnlyWords, over } }),
    reload: (settings, problems) => config.reload(settings, problems),
    close: async () => {
      await mcp.close();
      await exec.close();
      await keeper.close();
      await journal.close();
    },
  };
}

function retentionOf({ cleanupPeriodDays, journal }: Settings): Retention {
  return {
    cleanupPeriodDays: cleanupPeriodDays ?? DEFAULT_RETENTION.cleanupPeriodDays,
    maxBytes: journal?.maxBytes ?? DEFAULT_RETENTION.maxBytes,
  };
}

/** What follows from the user's settings; read again at SIGHUP. Running processes see the new rules at their next call. */
class Configuration {
  readonly resolver: ModelResolver;
  readonly #context: BootContext<Lease>;
  #settings: Settings;
  #permit: Permit;

  constructor(context: BootContext<Lease>) {
    this.#context = context;
    this.#settings = context.settings;
    this.#permit = this.#makePermit(context.settingsProblems);
    this.resolver = createModelResolver({ settings: () => this.#settings });
  }

  get settings(): Settings {
    return this.#settings;
  }

  get permit(): Permit {
    return this.#permit;
  }

  reload(settings: Settings, problems: readonly string[]): void {
    this.#settings = settings;
    this.#permit = this.#makePermit(problems);
  }

  /** Settings that could not be read in full may have lost a deny: then every call of every tool asks. */
  #makePermit(problems: readonly string[]): Permit {
    const { paths, home, log } = this.#context;
    const { permissions } = this.#settings;
    const asks =
      problems.length === 0
        ? []
        : [...TOOLS.map((tool) => tool.name), "mount", "mcp__*"].map(
            (text) => ({ source: "userSettings", behavior: "ask", text }) as const,
          );
    const permit = makePermit({
      rules: [...rulesFromSettings(this.#settings, "userSettings"), ...asks],
      defaultMode: this.#defaultMode(permissions?.defaultMode),
      additionalDirectories: permissions?.additionalDirectories ?? [],
      home,
      kernelPaths: [paths.stateDir, paths.runtimeDir],
      realPath,
    });
    for (const warning of permit.warnings) log("warn", `settings: ${warning}`);
    return permit;
  }

  #defaultMode(text: string | undefined): PermissionMode {
    const mode = text === undefined ? "default" : findMode(text);
    if (mode !== undefined) return mode;
    this.#context.log("warn", `settings: permissions.defaultMode: not a mode: ${text}; default is used`);
    return "default";
  }
}

/** What a daemon that was killed left: OS processes, half-written files. Before anything starts. */
async function clearLeftovers(
  journal: Journal,
  context: BootContext<Lease>,
  isWritable: boolean,
): Promise<void> {
  const { log, isSafeMode } = context;
  const { stateDir } = context.paths;
  const ended = await sweepOrphans(journal.kernelId, journal.epoch);
  if (ended > 0) log("warn", `ended ${ended} OS processes that the last daemon left`);
  if (!isWritable) return;
  for (const { body } of isSafeMode ? [] : await journal.openCalls()) {
    const { effects = [] } = body as { effects?: readonly Effect[] };
    for (const effect of effects) if (effect.kind === "write") await sweep(effect.real ?? effect.path, log);
  }
  for (const name of ["tmp", "pipes"]) rmSync(join(stateDir, name), { recursive: true, force: true });
  mkdirSync(join(stateDir, "tmp"), { recursive: true, mode: 0o700 });
}

/** In a place that may be closed to us by now: what stays there does not keep the daemon from starting. */
async function sweep(path: string, log: BootContext<Lease>["log"]): Promise<void> {
  try {
    await sweepTemp(path);
  } catch (error) {
    log("warn", `left beside ${path} by the last daemon: ${messageOf(error)}`);
  }
}

/**
 * The folders of processes that are gone: outputs at once; what an agent left in its scratch folder is there for the person to
 * read, for a week. Both are named after their process; those of one that came `back` are its own still.
 */
function clearFolders(stateDir: string, back: ReadonlySet<string>, now: number): void {
  const oldest = agedBefore(join(stateDir, "scratch-checked"), now, SCRATCH_KEPT_MS);
  for (const [folder, before] of [
    ["outputs", Number.POSITIVE_INFINITY],
    ["scratch", oldest],
  ] as const) {
    for (const name of readdirSync(join(stateDir, folder))) {
      const path = join(stateDir, folder, name);
      if (!back.has(name) && statSync(path).mtimeMs < before) rmSync(path, { recursive: true, force: true });
    }
  }
}

/** Project agents and skills count once a workspace can be trusted; until then only the user's own and the shipped ones. */
function agentsOf({ paths, log }: BootContext<Lease>): ServerDeps["loadAgent"] {
  const lib = join(packageRoot(), "lib");
  const cache = new AgentCache({
    readText: (path) => readFile(path, "utf8"),
    list: (dir) => readdir(dir),
    realPath: (path) => realpath(path),
    stamp: stampOf,
  });
  return async (name = DEFAULT_AGENT, cwd, env) => {
    if (name === "none") return null;
    const options = {
      dirs: [join(lib, "agents"), join(paths.configDir, "agents")],
      skillDirs: [join(lib, "skills"), join(paths.configDir, "skills")],
      env: { ...env, CRUX_PROJECT_DIR: cwd },
      warn: (message: string) => log("warn", message),
    };
    return cache.load(name, (files) => makeAgentLoader({ ...options, files }).load(name));
  };
}

/** What changes when the file does; "" for one that is not there or may not be seen. */
function stampOf(path: string): string {
  try {
    const { ino, mtimeNs, ctimeNs, size } = statSync(path, { bigint: true });
    return `${ino} ${mtimeNs} ${ctimeNs} ${size}`;
  } catch {
    return "";
  }
}

function maxRetries(env: Readonly<Record<string, string>>): { maxRetries?: number } {
  const count = Number(env.CRUX_MAX_RETRIES);
  return Number.isInteger(count) && count >= 1 ? { maxRetries: count } : {};
}

/** src/ and dist/ both lie directly below it. */
function packageRoot(): string {
  const here = import.meta.dirname;
  return basename(here) === "src" || basename(here) === "dist" ? dirname(here) : here;
}
