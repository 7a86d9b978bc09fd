/** /proc: the process table as read-only files; a file shows the state at the moment it was opened. */
import { type Caller, type Device, type FileStat, O_RDONLY } from "../../abi/device.ts";
import { asPid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { ExitStatus, ProcInfo } from "../../abi/process.ts";
import type { SupervisorView } from "../../abi/supervise.ts";
import type { ProcView } from "../../kernel/ports/proc-view.ts";
import { driverError, type FileOp } from "../driver-error.ts";
import { readPlan } from "../plan-file.ts";
import { snapshotFile } from "../snapshot.ts";

const mount = "/proc";

/** undefined: this process has no such file. */
type Content = (info: ProcInfo, view: ProcView) => string | undefined | Promise<string | undefined>;

const FILES: Readonly<Record<string, Content>> = {
  status: (info) => JSON.stringify(statusOf(info)),
  intent: (info) => info.intent,
  context: ({ pid }, view) => view.contextSummary(pid),
  "context/stat": async ({ pid }, view) => jsonOf(await view.contextStat(pid)),
  "context/view": async ({ pid }, view) => jsonOf(await view.contextView(pid)),
  "context/pins": async ({ pid }, view) => jsonOf((await view.contextView(pid))?.pins),
  fd: ({ pid }, view) => JSON.stringify(view.fds(pid).map(({ fd, path, flags }) => ({ fd, path, flags }))),
  mounts: ({ pid }, view) => JSON.stringify(view.mounts(pid).map(({ path, device }) => ({ path, device }))),
  tools: ({ pid }, view) => JSON.stringify(view.tools(pid)),
  servers: ({ pid }, view) =>
    JSON.stringify(view.servers(pid).map(({ name, path, state }) => ({ name, path, state }))),
  labels: async ({ pid }, view) => JSON.stringify(await view.labels(pid)),
  jobs: async ({ pid }, view) => JSON.stringify(await view.jobs(pid)),
  todo: async ({ pid }, view) => JSON.stringify((await view.kept(pid, "todo")) ?? []),
  plan: async ({ pid }, view) => {
    const path = view.planPath(pid);
    return path === null ? "" : readPlan(path);
  },
  account: ({ pid }, view) => {
    const { limit, used, reserved } = view.account(pid);
    return JSON.stringify({ limit, used, reserved });
  },
  sched: ({ pid }, view) => {
    const sched = view.sched(pid);
    return sched === undefined ? undefined : JSON.stringify(sched);
  },
  signals: ({ pid }, view) => {
    const { blocked, pending, handled } = view.signals(pid);
    return JSON.stringify({ blocked, pending, handled });
  },
  supervisor: ({ pid }, view) => {
    const supervisor = view.supervisor(pid);
    return supervisor === undefined ? undefined : JSON.stringify(supervisorOf(supervisor));
  },
};

/** The files that have words of the process, or of who started it. */
const SAID: ReadonlySet<string> = new Set([
  ...["status", "intent", "context", "context/view", "context/pins", "jobs", "todo", "plan", "supervisor"],
]);

function jsonOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

export function procDevice(view: ProcView): Device {
  const files = new ProcFiles(view);
  return {
    name: "proc",
    traffic: "byte",
    stat: async (subpath, caller) => procStat(subpath, await files.content(subpath, caller, "Stat")),
    async open(subpath, flags, caller) {
      const content = await files.content(subpath, caller, "Open");
      if (flags !== O_RDONLY) throw driverError("Open", "PERMISSION", `${mount} is read-only`);
      return snapshotFile(content, procStat(subpath, content), await files.labels(subpath, caller));
    },
    openEffects: (subpath) => [{ kind: "state", path: mount + subpath }],
  };
}

class ProcFiles {
  readonly #view: ProcView;

  constructor(view: ProcView) {
    this.#view = view;
  }

  /**
   * For an empty subpath the visible pids; for `/<pid>` the names of its files. NOT_FOUND: missing or not visible.
   */
  async content(subpath: string, caller: Caller, op: FileOp): Promise<Uint8Array> {
    const view = this.#view;
    const [, first = "", file = "", ...more] = subpath.split("/");
    if (subpath === "") return Buffer.from(JSON.stringify(view.list(caller.pid).map(({ pid }) => pid)));
    const pid = first === "self" ? caller.pid : parsePid(first);
    const info = pid === undefined ? undefined : view.find(caller.pid, pid);
    if (info === undefined) throw driverError(op, "NOT_FOUND", `process not found: ${first}`);
    if (file === "" && more.length === 0) return Buffer.from(JSON.stringify(namesOf(info, view)));
    const name = [file, ...more].join("/");
    const find = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    const content = await find?.(info, view);
    if (content === undefined) throw driverError(op, "NOT_FOUND", `file not found: ${mount}${subpath}`);
    return Buffer.from(content);
  }

  /** What another process says may come from all that it has read. */
  async labels(subpath: string, { pid: own }: Caller): Promise<readonly Label[]> {
    const [, first = "", ...names] = subpath.split("/");
    const pid = parsePid(first);
    if (pid === undefined || pid === own || !SAID.has(names.join("/"))) return [];
    return this.#view.labels(pid);
  }
}

function namesOf({ pid }: ProcInfo, view: ProcView): readonly string[] {
  const names = Object.keys(FILES);
  return view.supervisor(pid) === undefined ? names.filter((name) => name !== "supervisor") : names;
}

function parsePid(text: string) {
  return /^(0|[1-9]\d{0,14})$/.test(text) ? asPid(Number(text)) : undefined;
}

function procStat(subpath: string, content: Uint8Array): FileStat {
  const name = subpath.slice(subpath.lastIndexOf("/") + 1) || "proc";
  return { name, size: content.byteLength, isDevice: false, devicePath: mount };
}

/** `/proc/<pid>/status`: eight keys in a fixed order, then additional ones. */
function statusOf(info: ProcInfo): Record<string, unknown> {
  const { exit } = info;
  return {
    pid: info.pid,
    ppid: info.ppid,
    state: info.state,
    intent: info.intent,
    skills: info.skills,
    tokens_used: info.tokensUsed,
    elapsed_ms: Math.round(info.elapsedMs),
    allowed_devices: info.allowedDevices,
    kind: info.kind,
    ...(info.activity === null ? {} : { activity: info.activity }),
    ctx_id: info.ctxId,
    ...(exit === null ? {} : { exit: exitOf(exit) }),
  };
}

/** `/proc/<pid>/supervisor`: its configuration, the state of each child, and the exits of children that crashed. */
function supervisorOf(view: SupervisorView): Record<string, unknown> {
  const { name, strategy, intensity, children, crashes } = view;
  return {
    name,
    strategy,
    intensity: { maxRestarts: intensity.maxRestarts, windowMs: intensity.windowMs },
    children: children.map(({ id, pid, state, restart, restarts, lastExit, nextStartAt }) => ({
      id,
      pid,
      state,
      restart,
      restarts,
      lastExit: lastExit === null ? null : exitOf(lastExit),
      nextStartAt,
    })),
    crashes: crashes.map((crash) => ({ ...crash, exit: exitOf(crash.exit) })),
  };
}

/** An exit as shown: the underlying error stays in the journal. */
function exitOf({ code, reason, kind }: ExitStatus): Omit<ExitStatus, "err"> {
  return { code, reason, kind };
}
