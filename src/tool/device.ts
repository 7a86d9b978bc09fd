/** The device at /bin: a directory of programs; each is opened, written one JSON object, and read for one result. */
import { TEAM } from "../abi/child.ts";
import {
  type Caller,
  type Device,
  type FileStat,
  O_RDONLY,
  O_RDWR,
  type OpenFile,
  type OpenFlag,
  type ToolStat,
} from "../abi/device.ts";
import type { ProcUuid } from "../abi/ids.ts";
import { canonicalToolName } from "../abi/tool.ts";
import { systemClock } from "../lib/time/system-clock.ts";
import { CallFile } from "./call-file.ts";
import { failure } from "./failure.ts";
import type { ProgressClock } from "./progress.ts";
import { similarNames } from "./similar.ts";
import type { BackgroundRule, Tool, ToolEnv } from "./tool.ts";
import { type FileTracker, LooseTracker } from "./tracker.ts";

interface ToolDeps {
  /** Wall clock, ms. */
  now(): number;
  /** The clock of progress frames; default: the system clock. */
  readonly clock?: ProgressClock;
  /** Default: the platform of the daemon. */
  readonly platform?: string;
  /** Which of todo and tasks the settings choose; read at each use. Absent: no choice. */
  readonly tasks?: () => "todo" | undefined;
  /** Whether models in a folder may take messages out of their view; read at each use. Absent: they may not. */
  readonly snips?: (cwd: string) => boolean;
  /** Whether agents in a folder may make teams; read at each use. Absent: they may. */
  readonly mayTeam?: (cwd: string) => boolean;
  /** What the settings of a folder say of agents in the background; read at each use. Absent: nothing. */
  readonly background?: (cwd: string) => BackgroundRule;
}

const MOUNT = "/bin";

/** Throws when two tools have the same name or alias. */
export function toolDevice(tools: readonly Tool[], deps: ToolDeps): Device {
  const byName = index(tools);
  const names = tools.map((tool) => tool.name).sort();
  const trackers = new Trackers();
  const { now, clock = systemClock, platform = process.platform } = deps;
  const envOf = (caller: Caller): ToolEnv => {
    const { env, cwd, interactive = false, isSession = false, isChild = false, kept } = caller;
    const tasks = deps.tasks?.();
    const asked = tasks === undefined ? {} : { tasks };
    return {
      platform,
      env,
      interactive,
      isSession,
      isChild,
      hasTeam: kept?.get(TEAM) !== undefined,
      mayTeam: deps.mayTeam?.(cwd) !== false,
      snips: deps.snips?.(cwd) === true,
      ...asked,
    };
  };
  // every listed tool can be opened
  const seenBy = (caller: Caller): readonly string[] => {
    const env = envOf(caller);
    const isListed = (tool: Tool): boolean => tool.enabled(env) === true && tool.offered(env);
    return names.filter((name) => {
      const tool = byName.get(name);
      return tool !== undefined && caller.hides?.(name) !== true && isListed(tool);
    });
  };
  const find = (subpath: string, caller: Caller): Tool => {
    const name = subpath.slice(1);
    const tool = byName.get(name) ?? byName.get(canonicalToolName(name));
    if (tool === undefined || caller.hides?.(tool.name) === true) throw notFound(name, seenBy(caller));
    const why = tool.enabled(envOf(caller));
    if (why !== true) throw failure("UNAVAILABLE", `${tool.name} is switched off: ${why}`);
    return tool;
  };
  return {
    name: "bin",
    traffic: "message",
    async open(subpath: string, flags: OpenFlag, caller: Caller): Promise<OpenFile> {
      if (subpath === "") return openList(seenBy(caller), flags);
      const tool = find(subpath, caller);
      if (flags !== O_RDWR)
        throw failure(
          "INVALID",
          `${tool.name}: open it for reading and writing: the call is written, its result read`,
        );
      const tracker = caller.seen ?? trackers.of(caller);
      const skills = tool.wantsSkills ? await caller.skills?.() : undefined;
      const more = {
        ...(skills === undefined ? {} : { skills }),
        ...(deps.background === undefined ? {} : { background: deps.background(caller.cwd) }),
      };
      return new CallFile({ tool, stat: fileStat(tool) }, caller, { now, clock, tracker, ...more });
    },
    async stat(subpath: string, caller: Caller): Promise<FileStat> {
      return subpath === "" ? listStat(seenBy(caller)) : fileStat(find(subpath, caller));
    },
  };
}

function index(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    for (const name of [tool.name, ...tool.aliases]) {
      const other = byName.get(name);
      if (other !== undefined) throw new Error(`two tools are named ${name}: ${other.name} and ${tool.name}`);
      byName.set(name, tool);
    }
  }
  return byName;
}

function notFound(name: string, names: readonly string[]): Error {
  const similar = similarNames(name, names);
  const hint = similar.length === 0 ? `Tools: ${names.join(", ")}` : `Similar: ${similar.join(", ")}`;
  return failure("NOT_FOUND", `tool not found: ${name.slice(0, 200)}. ${hint}`);
}

/** Trackers of processes that keep no values; removed when the process ends, so bounded by the number of processes. */
class Trackers {
  readonly #byProcess = new Map<ProcUuid, FileTracker>();

  of(caller: Caller): FileTracker {
    const known = this.#byProcess.get(caller.uuid);
    if (known !== undefined) return known;
    const tracker = new LooseTracker();
    if (caller.signal.aborted) return tracker;
    this.#byProcess.set(caller.uuid, tracker);
    caller.signal.addEventListener("abort", () => this.#byProcess.delete(caller.uuid), { once: true });
    return tracker;
  }
}

/** The same object for every process, so that what is made of it once serves all of them. */
const told = new WeakMap<Tool, ToolStat>();

function fileStat(tool: Tool): FileStat {
  const { name, description, inputSchema, parallel, maxResultChars, hint, listed, readOnly, compactable } =
    tool;
  const flags = { parallel, maxResultChars, hint, listed, readOnly, compactable };
  const stat = told.get(tool) ?? { name, description, inputSchema: { ...inputSchema }, ...flags };
  told.set(tool, stat);
  return { name, size: 0, isDevice: true, devicePath: MOUNT, tool: stat };
}

function listStat(names: readonly string[]): FileStat {
  return { name: "bin", size: listBytes(names).byteLength, isDevice: true, devicePath: MOUNT };
}

function listBytes(names: readonly string[]): Buffer {
  return Buffer.from(`${JSON.stringify(names)}\n`);
}

/** Opens the directory itself: the names as JSON, read like a file. */
function openList(names: readonly string[], flags: OpenFlag): OpenFile {
  if (flags !== O_RDONLY) throw failure("INVALID", "the list of tools can only be read");
  const bytes = listBytes(names);
  let at = 0;
  return {
    async read(length) {
      const chunk = bytes.subarray(at, at + length);
      at += chunk.byteLength;
      return chunk;
    },
    async write() {
      throw failure("INVALID", "the list of tools can only be read");
    },
    async close() {},
    async stat() {
      return listStat(names);
    },
  };
}
