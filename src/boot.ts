/** The daemon's composition root: every subsystem is made and mounted here, in start order, and nowhere else. */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Effect } from "./abi/effects.ts";
import { messageOf } from "./abi/errors.ts";
import { asProcUuid } from "./abi/ids.ts";
import type { Settings } from "./abi/settings.ts";
import { deferredSetting } from "./agent/deferred/setting.ts";
import { agentProgram } from "./agent/loop.ts";
import { agedBefore } from "./daemon/age-check.ts";
import { agentDesk } from "./daemon/agent-desk.ts";
import { budgetPolicy } from "./daemon/budget-policy.ts";
import { bypassRefusal } from "./daemon/bypass-refusal.ts";
import { Configuration } from "./daemon/configuration.ts";
import { grantKey } from "./daemon/grant-key.ts";
import type { BootContext, Booted } from "./daemon/run.ts";
import { Trust } from "./daemon/trust.ts";
import { TrustStore } from "./daemon/trust-store.ts";
import { fsDevice } from "./dev/fs/device.ts";
import { mendFile } from "./dev/fs/mend.ts";
import { sweepTemp } from "./dev/fs/temp-file.ts";
import { gitDevice } from "./dev/git/device.ts";
import { loadComposeProject } from "./dev/host/compose-source.ts";
import { HostProcesses } from "./dev/host/exec.ts";
import { sweepOrphans } from "./dev/host/orphans.ts";
import { Peers } from "./dev/host/peer.ts";
import { realPath } from "./dev/host/real-path.ts";
import { Sandboxes } from "./dev/host/sandbox/sandbox.ts";
import { mcpHost } from "./dev/mcp/host.ts";
import { nullDevice } from "./dev/null/device.ts";
import { outDevice } from "./dev/out/device.ts";
import { OutputStore } from "./dev/out/output-store.ts";
import { ScratchStore } from "./dev/out/scratch.ts";
import { DiskSpools } from "./dev/out/spool.ts";
import { planDevice } from "./dev/plan/device.ts";
import { procDevice } from "./dev/proc/device.ts";
import { shellDevice } from "./dev/shell/device.ts";
import { commandEnvironment } from "./dev/shell/environment.ts";
import { Jobs } from "./dev/shell/jobs.ts";
import { tasksDevice } from "./dev/tasks/device.ts";
import { TaskStore } from "./dev/tasks/store.ts";
import { Tasks } from "./dev/tasks/tasks.ts";
import { todoDevice } from "./dev/tasks/todo.ts";
import { ttyDevice } from "./dev/tty/device.ts";
import { PageCache } from "./dev/web/cache.ts";
import { webDevice } from "./dev/web/device.ts";
import { hostPorts } from "./dev/web/ports.ts";
import { keptBefore } from "./kernel/fork/kept-files.ts";
import { Kernel } from "./kernel/kernel.ts";
import { LIMITS } from "./kernel/limits.ts";
import type { Journal, JournalRecord } from "./kernel/ports/journal.ts";
import type { Retention } from "./kernel/ports/journal-tools.ts";
import { redactedJournal } from "./kernel/redact/redacted-journal.ts";
import { RedactedBytes } from "./lib/redact-bytes.ts";
import { modelDevices } from "./llm/devices.ts";
import { makeClassifier } from "./permit/auto/classifier.ts";
import { passesEnv } from "./permit/rules/pass-env.ts";
import { secretPaths } from "./permit/rules/protected.ts";
import { EndsFile } from "./store/journal/ends-file.ts";
import type { Lease } from "./store/lease.ts";
import { DEFAULT_RETENTION, JournalKeeper } from "./store/offline/keeper.ts";
import { openAsItIs } from "./store/sqlite/read-only.ts";
import { askUser } from "./tool/ask_user/ask_user.ts";
import { bash } from "./tool/bash/bash.ts";
import { toolDevice } from "./tool/device.ts";
import { edit } from "./tool/edit/edit.ts";
import { fetchTool } from "./tool/fetch/fetch.ts";
import { gitStatus } from "./tool/git_status/git_status.ts";
import { glob } from "./tool/glob/glob.ts";
import { grep } from "./tool/grep/grep.ts";
import { jobKill } from "./tool/job_kill/job_kill.ts";
import { jobOutput } from "./tool/job_output/job_output.ts";
import { ls } from "./tool/ls/ls.ts";
import { multiEdit } from "./tool/multi_edit/multi_edit.ts";
import { notebookEdit } from "./tool/notebook_edit/notebook_edit.ts";
import { planEnter } from "./tool/plan_enter/plan_enter.ts";
import { planExit } from "./tool/plan_exit/plan_exit.ts";
import { send } from "./tool/send/send.ts";
import { sleep } from "./tool/sleep/sleep.ts";
import { stop } from "./tool/stop/stop.ts";
import { taskCreate } from "./tool/task_create/task_create.ts";
import { taskGet } from "./tool/task_get/task_get.ts";
import { taskList } from "./tool/task_list/task_list.ts";
import { taskUpdate } from "./tool/task_update/task_update.ts";
import { todo } from "./tool/todo/todo.ts";
import { view } from "./tool/view/view.ts";
import { webSearch } from "./tool/web_search/web_search.ts";
import { write } from "./tool/write/write.ts";
import { ProcessSockets } from "./wire/server/process-sockets.ts";

const TOOLS = [
  askUser,
  bash,
  edit,
  fetchTool,
  gitStatus,
  glob,
  grep,
  jobKill,
  jobOutput,
  ls,
  multiEdit,
  notebookEdit,
  planEnter,
  planExit,
  send,
  sleep,
  stop,
  taskCreate,
  taskGet,
  taskList,
  taskUpdate,
  todo,
  view,
  webSearch,
  write,
];
/** The first client is served first. */
const LOOK_AHEAD_MS = 200;
const SCRATCH_KEPT_MS = 7 * 24 * 3600 * 1000;
const SHOWN_PIDS = 8;
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
  const ends = await endsOf(context, journal, over === undefined);
  lease.describe({ kernelId: journal.kernelId, epoch: journal.epoch });
  // what is there may only be looked at: in safe mode until a person says so, on such a disk until it takes writes
  const isTouched = !context.isSafeMode && over === undefined;
  await clearLeftovers(journal, context, over === undefined);

  const trust = trustOf(context, over === undefined);
  const config = new Configuration(context, { realPath, trust });
  const pipesDir = join(paths.stateDir, "pipes");
  const sandboxes = sandboxesOf(context, over === undefined);
  const identity = { kernelId: journal.kernelId, epoch: journal.epoch };
  const exec = new HostProcesses({ ...identity, pipesDir, sandboxes, clock });
  if (over === undefined) setTimeout(() => void exec.lookAhead(), LOOK_AHEAD_MS).unref();
  const processSockets = new ProcessSockets(paths.socketPath, log);
  // what a person started is the person's own; all else gets a socket that says whose it is
  const socketOf = (uuid: string): string =>
    kernel.clientOf(uuid)?.isPersons === true ? paths.socketPath : processSockets.open(uuid);
  const passes = (exec: { argv: readonly string[]; shell?: string; certain: boolean }, cwd: string) =>
    passesEnv(config.settings.secrets?.passEnv ?? {}, { kind: "exec", cwd, ...exec }, home);
  const mark = `CRUX_OWNER=${journal.kernelId}:`;
  const peers = new Peers({ ownerOf: (osPid) => exec.ownerOf(osPid), mark, uid: context.uid });
  const outputs = new OutputStore(join(paths.stateDir, "outputs"));
  const scratch = new ScratchStore(join(paths.stateDir, "scratch"));
  const jobs = new Jobs({
    outputs,
    now: () => clock.now(),
    notify: (pid, text) => kernel.notify(pid, text),
    onEnd: (pid) => kernel.rested(pid),
  });
  const taskStore = new TaskStore(join(paths.stateDir, "tasks"), clock);
  const tasks = new Tasks({
    store: taskStore,
    hasEnded: (pid) => kernel.hasEnded(pid),
    notify: (pid, text) => kernel.notify(pid, text),
  });
  const agents = agentDesk({
    ...{ home: context.home, configDir: paths.configDir, lib: join(packageRoot(), "lib"), log, trust },
    tools: TOOLS.map(({ name }) => name),
  });
  const loadAgent = agents.load;
  const mcp = mcpHost({ exec, services: () => kernel.services, clock, home, version: context.version });
  const key = grantKey(paths.stateDir, (message) => log("warn", message));
  const { redactor } = context;
  // the same secret has the same mark under every daemon of this state
  redactor?.useKey(createHmac("sha256", key).update("redacted").digest());
  const kernel: Kernel = new Kernel({
    journal: redactor === undefined ? journal : redactedJournal(journal, redactor),
    ends,
    permitFor: (cwd) => config.permitFor(cwd),
    settings: config.writer,
    askTimeouts: () => config.askTimeouts(),
    models: config.resolver,
    classifier: makeClassifier(() => config.settings),
    program: agentProgram({ platform: process.platform, ...maxRetries(env), deferred: deferredSetting(env) }),
    clock,
    ...(context.gaps === undefined ? {} : { gaps: context.gaps }),
    exec,
    spools: new DiskSpools(join(paths.stateDir, "spools")),
    mcp,
    commandEnv: (owner, extra, argv) =>
      commandEnvironment(owner, extra, socketOf(owner.uuid), argv && passes({ argv, certain: true }, home)),
    random: Math.random,
    version: context.version,
    loadAgent,
    loadProject: loadComposeProject,
    realPath,
    grantKey: key,
    ...(redactor === undefined ? {} : { redactor }),
    bypassRefusal: () => bypassRefusal(),
    uuid: () => asProcUuid(randomUUID()),
    nonce: () => randomBytes(8).toString("hex"),
    scratchDir: (uuid) => scratch.scratchDir(uuid),
    jobs,
    onExited: (pid) => {
      const place = kernel.taskPlace(pid);
      const freed = place === null ? Promise.resolve() : tasks.exited(pid, place);
      freed.catch((error: unknown) => log("warn", `tasks of pid ${pid}: ${messageOf(error)}`));
    },
    onReaped: async (uuid) => {
      processSockets.close(uuid);
      trust.endSessions([...kernel.table.all()].map(({ seed }) => seed.cwd));
      await scratch.removeEmpty(uuid);
      await outputs.remove(uuid);
    },
    home,
    env,
    additionalRoots: [],
    sessionRestMs: () => config.settings.sessions?.restAfterMs ?? LIMITS.sessionRestMs,
    budget: () => budgetPolicy(config.settings),
    defaultMaxSteps: config.settings.defaults?.maxSteps ?? LIMITS.defaultMaxSteps,
    log,
  });

  kernel.mount("/dev/null", nullDevice);
  kernel.mount("/dev/fs", fsDevice({ exec, clock, realPath, env, isSecret: secretPaths(home, realPath) }));
  kernel.mount(
    "/dev/shell",
    shellDevice({
      exec,
      outputs,
      clock,
      jobs,
      mayBackground: (env) => mayBackground(config.settings, env),
      ...autoJobMs(env),
      ...(redactor === undefined ? {} : { redacted: () => new RedactedBytes(redactor) }),
      socketOf,
      passes: (shell, cwd) => passes({ argv: ["bash", "-c", shell], shell, certain: false }, cwd),
    }),
  );
  const prices = () => config.settings.models ?? {};
  for (const device of modelDevices({ exec, tmpDir: join(paths.stateDir, "tmp"), clock, prices })) {
    kernel.mount(`/dev/llm/${device.name}`, device);
  }
  kernel.mount(
    "/dev/web",
    webDevice({
      ports: hostPorts,
      cache: new PageCache(() => clock.mono()),
      outputs,
      clock,
      version: context.version,
      isPrivate: (hostAndPort) => config.settings.web?.private?.includes(hostAndPort) === true,
    }),
  );
  kernel.mount("/dev/git", gitDevice({ exec, clock, env }));
  kernel.mount("/dev/todo", todoDevice());
  kernel.mount(
    "/dev/plan",
    planDevice(() => kernel.plans),
  );
  kernel.mount("/dev/tty", ttyDevice({ ask: (pid, items, signal) => kernel.askPerson(pid, items, signal) }));
  kernel.mount("/var/out", outDevice(outputs));
  kernel.mount(
    "/var/tasks",
    tasksDevice({ store: taskStore, tasks, placeOf: ({ pid }) => kernel.taskPlace(pid) }),
  );
  kernel.mount("/proc", procDevice(kernel.view()));
  kernel.mount("/bin", toolDevice(TOOLS, { now: () => clock.now(), tasks: () => config.settings.tasks }));

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
    anchorFile: () => config.settings.audit?.anchor ?? undefined,
    isHeld: (pid) => kernel.holds(pid),
    log,
  });
  if (over === undefined) keeper.start({ clearsOut: isTouched });
  return {
    kernel,
    journal,
    desk: keeper.desk,
    tasks: taskStore,
    trust,
    settings: (reload) => config.desk(reload),
    loadAgent,
    definitions: agents.look,
    ...(over === undefined ? {} : { readOnly: { words: kernel.journalWatch.readOnlyWords, over } }),
    peers,
    processSockets,
    ...(context.isSafeMode ? await unrestoredOf(journal) : {}),
    sandbox: () => ({ ...exec.sandbox, mode: config.permitFor(home).sandboxMode ?? "on" }),
    models: config.resolver,
    showsCalls: () => config.settings.ui?.calls !== false,
    reload: (settings) => {
      config.reload(settings);
      kernel.rights.recheckModes().catch((error: unknown) => log("error", `modes: ${messageOf(error)}`));
    },
    close: async () => {
      await mcp.close();
      await exec.close();
      await keeper.close();
      await journal.close();
    },
  };
}

/** What ended while the disk was full is put into the journal before anything comes back. */
async function endsOf(
  { paths, clock, log }: BootContext<Lease>,
  journal: Journal,
  isWritable: boolean,
): Promise<EndsFile> {
  const ends = new EndsFile(join(paths.stateDir, "journal", "ends"), () => clock.now());
  const forget = async (): Promise<void> => {
    const folded = await ends.fold(journal);
    if (folded > 0)
      log("info", `the journal has ${folded} signals and ends that a full disk had no room for`);
  };
  journal.onState(({ state }) => {
    if (state !== "well") return;
    journal
      .sync()
      .then(forget)
      .catch((error: unknown) => log("warn", `ends: ${messageOf(error)}`));
  });
  if (!isWritable) return ends;
  await forget();
  ends.prepare();
  return ends;
}

/** What a person must know of who looks at an empty list. */
async function unrestoredOf(journal: Journal): Promise<Pick<Booted, "unrestored">> {
  const agents = (await journal.rows({ live: true })).filter(({ kind }) => kind === "agent");
  if (agents.length === 0) return {};
  const pids = agents.map(({ pid }) => pid).sort((a, b) => a - b);
  return { unrestored: { agents: agents.length, pids: pids.slice(0, SHOWN_PIDS) } };
}

/** Without a disk that takes it, nobody's word is kept. */
function trustOf({ paths, home, env, clock, log }: BootContext<Lease>, isWritable: boolean): Trust {
  const warn = (line: string) => log("warn", line);
  const store = new TrustStore({ stateDir: paths.stateDir, isWritable, warn });
  return new Trust({ store, home, realPath, tmpDir: env.TMPDIR, now: () => clock.now(), log });
}

/** What the last daemon's sandboxes left in the way of others is removed. */
function sandboxesOf({ paths, log }: BootContext<Lease>, isWritable: boolean): Sandboxes {
  const dir = join(paths.runtimeDir, "sandbox");
  rmSync(dir, { recursive: true, force: true });
  const sandboxes = new Sandboxes({ dir, ledgerDir: join(paths.stateDir, "sandbox") });
  const swept = isWritable ? sandboxes.sweep() : 0;
  if (swept > 0) log("warn", `removed ${swept} placeholders that sandboxes of the last daemon left`);
  return sandboxes;
}

/** Commands may run in the background unless the settings, or the environment of who asks, say that they may not. */
function mayBackground({ bash: shell }: Settings, env: Readonly<Record<string, string>>): boolean {
  return shell?.background !== false && env.CRUX_DISABLE_BACKGROUND !== "1";
}

/** For who wants it sooner, or later, than after a minute. */
function autoJobMs(env: Readonly<Record<string, string>>): { autoJobMs?: number } {
  const ms = Number(env.CRUX_AUTO_BACKGROUND_MS);
  return Number.isInteger(ms) && ms >= 1 ? { autoJobMs: ms } : {};
}

function retentionOf({ cleanupPeriodDays, journal }: Settings): Retention {
  return {
    cleanupPeriodDays: cleanupPeriodDays ?? DEFAULT_RETENTION.cleanupPeriodDays,
    maxBytes: journal?.maxBytes ?? DEFAULT_RETENTION.maxBytes,
  };
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
  for (const intent of isSafeMode ? [] : await journal.openCalls()) {
    const { effects = [] } = intent.body as { effects?: readonly Effect[] };
    if (effects.some(({ kind }) => kind === "write")) await mend(journal, intent, log);
    for (const effect of effects) if (effect.kind === "write") await sweep(effect.real ?? effect.path, log);
  }
  for (const name of ["tmp", "pipes"]) rmSync(join(stateDir, name), { recursive: true, force: true });
  mkdirSync(join(stateDir, "tmp"), { recursive: true, mode: 0o700 });
}

/** What was written in place when the last daemon died is what it was before. */
async function mend(journal: Journal, intent: JournalRecord, log: BootContext<Lease>["log"]): Promise<void> {
  try {
    for (const [path, old] of await keptBefore(journal, intent))
      if (await mendFile(path, old))
        log("warn", `${path} was half written when the last daemon died: restored`);
  } catch (error) {
    log("warn", `pid ${intent.pid}: what its last call left was not looked at: ${messageOf(error)}`);
  }
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

function maxRetries(env: Readonly<Record<string, string>>): { maxRetries?: number } {
  const count = Number(env.CRUX_MAX_RETRIES);
  return Number.isInteger(count) && count >= 1 ? { maxRetries: count } : {};
}

/** src/ and dist/ both lie directly below it. */
function packageRoot(): string {
  const here = import.meta.dirname;
  return basename(here) === "src" || basename(here) === "dist" ? dirname(here) : here;
}
